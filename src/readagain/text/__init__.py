"""Text processing: tokenization, normalization, vocabularies, truecasing, detokenization."""

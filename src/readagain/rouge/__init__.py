"""ROUGE with the scores of the ROUGE-1.5.5 script to the last decimal."""

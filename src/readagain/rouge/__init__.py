"""ROUGE scores, equal in every printed decimal to those of the Perl script ROUGE-1.5.5."""

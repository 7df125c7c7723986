"""Output layers: probabilities of the next word from decoder states."""

"""From decoder states to the probabilities of words."""

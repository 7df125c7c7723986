"""What a run is: specs, checks, overrides, files."""

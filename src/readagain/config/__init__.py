"""Settings of runs and of calls: specs, validation, overrides and files."""

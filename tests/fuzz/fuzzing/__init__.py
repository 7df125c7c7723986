"""A mutational fuzzer for every function of the package that reads untrusted bytes."""

"""Command line, started with `python -m readagain`."""

from readagain.cli.main import main

if __name__ == "__main__":
    main()

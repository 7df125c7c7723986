"""Path setup, so that pytest finds the package `fuzzing` as `python tests/fuzz` does."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

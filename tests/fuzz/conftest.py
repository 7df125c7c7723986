"""Import path: makes the package `fuzzing` importable, as `python tests/fuzz` does."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

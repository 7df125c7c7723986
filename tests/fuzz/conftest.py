"""The fuzzer lies beside its tests: `python tests/fuzz` and pytest find it in the same place."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

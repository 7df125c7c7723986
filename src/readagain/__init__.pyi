"""The public names for type checkers; `__init__.py` finds them on first use."""

from readagain.engine.summarizer import Summarizer as Summarizer
from readagain.engine.summary import Summary as Summary
from readagain.fitting.fit import fit as fit
from readagain.presets import PRESETS as PRESETS

__version__: str

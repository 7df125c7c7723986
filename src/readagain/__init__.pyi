"""Public names for type checkers; `__init__.py` imports each of them on first use."""

from readagain.api import compute_rouge as compute_rouge
from readagain.api import evaluate as evaluate
from readagain.api import export_model as export_model
from readagain.api import prepare as prepare
from readagain.api import train as train
from readagain.engine.summarizer import Summarizer as Summarizer
from readagain.engine.summary import Summary as Summary
from readagain.fitting.fit import fit as fit
from readagain.presets import PRESETS as PRESETS

__version__: str

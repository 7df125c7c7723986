"""Import every module that must work on a base install; fail if one imports torch."""

import importlib
import pkgutil
import sys

import readagain

HEAVY = (
    "readagain.networks",
    "readagain.training",
    "readagain.export",
    "readagain.fitting",
    "readagain.serve",  # except its settings, which the command imports
    *(
        f"readagain.experiments.{name}"
        for name in (
            "corpora",
            "reproduce",
            "run_experiment",
            "settings",
            "timing",
            "trained_model",
        )  # fmt: skip
    ),
    "readagain.__main__",
)

imported = 0
for module in pkgutil.walk_packages(readagain.__path__, "readagain."):
    if not module.name.startswith(HEAVY):
        importlib.import_module(module.name)
        imported += 1
assert "torch" not in sys.modules
print(f"{imported} modules imported without torch from {readagain.__path__[0]}")  # noqa: T201

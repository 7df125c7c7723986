"""Working directory of a fit, with the intermediate files of its stages.

```
MODEL.work/
  identity.json   inputs and options of the fit
  data/           prepared corpus
  plan.json       chosen settings and measured times
  run/            training run
  finished.json   scores and notes; written when the model and its report are complete
```
"""

from pathlib import Path

from readagain.storage.output_dir import LocalDir, OutputDir

RESULTS_FILE = "finished.json"
PLAN_FILE = "plan.json"


class FitDir(OutputDir):
    """Working directory of one fit."""

    content = "model being fitted"
    action = "fitting a model in"
    identity_file = "identity.json"

    def __init__(self, directory: LocalDir) -> None:
        super().__init__(directory)
        self.data = directory.path / "data"
        self.run = directory.path / "run"

    def clear(self) -> None:
        """Delete the files of the fit, and no others."""
        for name in ("data", "data.unfinished", "run", PLAN_FILE, RESULTS_FILE):
            self.directory.remove(name)


def work_dir(out: Path) -> Path:
    """Return the path of the working directory for a model directory: `<out>.work`."""
    return out.with_name(f"{out.name}.work")

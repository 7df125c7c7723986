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

from contextlib import suppress
from pathlib import Path

from readagain.storage.locks import LOCK_FILE
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

    def delete(self) -> None:
        """Delete the directory, unless it has other files than those of the fit."""
        self.clear()
        self.directory.remove(self.identity_file)
        folder = self.data.parent
        with suppress(OSError):  # Windows cannot remove a locked file
            (folder / LOCK_FILE).unlink()
            folder.rmdir()


def work_dir(out: Path) -> Path:
    """Return the path of the working directory for a model directory: `<out>.work`."""
    return out.with_name(f"{out.name}.work")

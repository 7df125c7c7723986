"""Presets: settings of the systems in the paper's tables, of `tiny` and of the bundled models."""

from readagain.config.schema import RunSpec
from readagain.presets import abs, bundled, lvt, paper, ras, tiny
from readagain.presets.baselines import BASELINES as BASELINES

PRESETS: dict[str, RunSpec] = {
    **abs.RUNS,
    **ras.RUNS,
    **paper.RUNS,
    **lvt.RUNS,
    "tiny": tiny.RUN,
    **bundled.RUNS,
}

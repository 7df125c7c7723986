"""Presets: the settings of every system in the tables, and the baselines without a network."""

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

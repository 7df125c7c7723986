"""RAS-LSTM: RAS-Elman with an LSTM that writes, and nothing else changed."""

from readagain.config.override import override
from readagain.presets import ras_elman

RUNS = {
    "ras_lstm": override(ras_elman.RUN, {"title": "RAS-LSTM", "model.cell": "lstm"}),
}

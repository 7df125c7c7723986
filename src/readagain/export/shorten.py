"""A network that was trained on its whole vocabulary, made to write from a shortlist."""

from dataclasses import replace

from readagain.config.override import override
from readagain.config.schema import ModelSpec
from readagain.errors import ArgumentError
from readagain.model_dir import ModelDir


def with_shortlist(folder: ModelDir, size: int) -> ModelDir:
    """Return the model as one in which fewer words compete: the weights stay, a setting changes.

    Args:
        folder: the model; it stays as it is.
        size: the most frequent words and those of the source that compete, the reserved counted.

    Raises:
        ArgumentError: when the network can have no shortlist, or no fewer words would compete.
        ConfigError: when the words of a source would not fit.
    """
    model = folder.run.model
    if not isinstance(model, ModelSpec):
        raise ArgumentError(
            "{0}: {shortlist} is for networks with an encoder and a decoder; all words compete in "
            "this one, so export it without",
            folder.path,
        )
    competing = model.shortlist_size or folder.run.vocab_size
    if not 0 < size < competing:
        raise ArgumentError(
            "{0}: {shortlist} is {1}; expected 1 to {2}, fewer words than compete without it",
            folder.path,
            size,
            competing - 1,
        )
    changes = {"model.shortlist_size": size}
    return replace(folder, run=override(folder.run, changes, where=str(folder.path)))

"""What can be evaluated, by name: the floor of every table, and models in their folders."""

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from readagain.engine.bundled import find_model
from readagain.engine.folder import ModelFolder
from readagain.errors import ArtifactError, ConfigError
from readagain.evaluation.baselines import Lead, Prefix
from readagain.evaluation.network import Network
from readagain.evaluation.settings import NOTHING_ASKED, PROTOCOL_SETTINGS, DecodeSettings
from readagain.evaluation.words import Written
from readagain.rouge.protocol import find_protocol

WITHOUT_NETWORK = ("prefix", "lead")


class System(Protocol):
    """Writes the summaries that are scored."""

    @property
    def name(self) -> str:
        """What the user called it."""
        ...

    def describe(self) -> dict[str, Any]:
        """Say what it is and how it works, for the report."""
        ...

    def write(self, texts: Sequence[str], *, is_tokenized: bool) -> Iterator[Written]:
        """Summarize texts, in their order."""
        ...


def load_system(
    model: str,
    protocol: str,
    *,
    asked: DecodeSettings = NOTHING_ASKED,
    threads: int | None = None,
    precision: str | None = None,
) -> System:
    """Load what `--model` names, to search as the protocol says, or as was asked instead.

    Args:
        model: `prefix`, `lead`, a bundled model's name, or a model folder.
        protocol: the name of one.
        asked: what comes before the protocol's settings.
        threads: that a network may use; all processors unless given.
        precision: of its graphs; the first there are unless given.

    Raises:
        ArtifactError: for a model that is not there or cannot be used.
        ConfigError: for settings that the system cannot honour.
    """
    find_protocol(protocol)
    if model in WITHOUT_NETWORK:
        if not (asked.is_empty and threads is None and precision is None):
            raise ConfigError(
                f"'{model}' searches nothing; leave out --beam, --min-words, --max-words, "
                "--threads and --precision"
            )
        has_byte_limit = find_protocol(protocol).options.max_bytes is not None
        return Prefix(cuts_words=has_byte_limit) if model == "prefix" else Lead()
    settings = asked.over(PROTOCOL_SETTINGS[protocol])
    try:
        path = find_model(model)
    except ArtifactError as error:
        floor = " and ".join(WITHOUT_NETWORK)
        raise ArtifactError(f"{error}; without a network there are {floor}") from error
    folder = ModelFolder.open(path)
    # Imported here: it brings ONNX Runtime, which the floor does without.
    from readagain.engine.sessions import default_threads
    from readagain.engine.summarizer import Summarizer

    threads = default_threads() if threads is None else threads
    summarizer = Summarizer.load(path, threads=threads, precision=precision)  # type: ignore[arg-type]
    return Network(model, folder, summarizer, precision, threads, settings)

"""What can be evaluated, by name: the floor of every table, and models in their folders."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any, Protocol, assert_never

from readagain.classic.topics import Topics
from readagain.config.classic import LeadSpec, PrefixSpec, TopiarySpec
from readagain.config.options import SummarizeOptions, decode_overrides, override_decode
from readagain.corpus.tokenizing import UNKNOWN_SPELLINGS
from readagain.errors import ArgumentError, ArtifactError
from readagain.evaluation.baselines import Lead, Prefix
from readagain.evaluation.network import NetworkSystem
from readagain.evaluation.settings import PROTOCOL_SETTINGS
from readagain.evaluation.topiary import TopiarySystem
from readagain.evaluation.words import Written
from readagain.model_dir import ModelDir
from readagain.presets import BASELINES
from readagain.processors import num_threads
from readagain.rouge.protocol import find_protocol
from readagain.storage.bundled import DEFAULT_MODEL, find_model
from readagain.text.vocab import SPECIAL_TOKENS

WITHOUT_NETWORK = tuple(BASELINES)


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
    asked: SummarizeOptions | None = None,
    threads: int | None = None,
    precision: str | None = None,
) -> System:
    """Load what `--model` names, to search as the protocol says, or as was asked instead.

    Args:
        model: `prefix`, `lead`, `topiary`, a bundled model's name, or a model folder.
        protocol: the name of one.
        asked: what comes before the protocol's settings.
        threads: that a network, or the parsers of TOPIARY, may use; all processors unless given.
        precision: of its graphs; the first there are unless given.

    Raises:
        ArtifactError: for a model that is not there or cannot be used.
        ConfigError: for settings that the system cannot honour.
        MissingExtraError: for TOPIARY without its parser.
    """
    find_protocol(protocol)
    asked = asked or {}
    if model in WITHOUT_NETWORK:
        return _load_classic(model, protocol, asked=asked, threads=threads, precision=precision)
    overrides = decode_overrides(asked)
    try:
        path = find_model(model)
    except ArtifactError as error:
        floor = ", ".join(WITHOUT_NETWORK)
        raise ArtifactError(f"{error}; without a network there are {floor}") from error
    folder = ModelDir.open(path)
    # Checked before the graphs are loaded.
    decode = override_decode(folder.run.decode, PROTOCOL_SETTINGS[protocol])
    decode = override_decode(decode, overrides)
    # Imported here: it brings ONNX Runtime, which the floor does without.
    from readagain.engine.summarizer import Summarizer

    threads = num_threads(threads)
    summarizer = Summarizer.load(path, threads=threads, precision=precision)  # type: ignore[arg-type]
    summarizer = summarizer.searching(**asdict(decode))
    return NetworkSystem(model, folder, summarizer, precision, threads)


def _load_classic(
    model: str,
    protocol: str,
    *,
    asked: SummarizeOptions,
    threads: int | None,
    precision: str | None,
) -> System:
    """Make a system without a network; of the options of a search it honours few."""
    spec = BASELINES[model]
    given = asked | {"threads": threads, "precision": precision}
    foreign = [
        f"{{{name}}}"
        for name, value in given.items()
        if value is not None and name not in _SUPPORTED[type(spec)]
    ]
    if foreign:
        raise ArgumentError(f"{{0}}: no beam search; remove {', '.join(foreign)}", model)
    match spec:
        case PrefixSpec():
            has_byte_limit = find_protocol(protocol).options.max_bytes is not None
            return Prefix(max_bytes=spec.max_bytes, cuts_words=has_byte_limit)
        case LeadSpec():
            return Lead(max_words=asked.get("max_words"))
        case TopiarySpec():
            common = ModelDir.open(find_model(DEFAULT_MODEL)).source_vocab
            return TopiarySystem(
                Topics(common.words[len(SPECIAL_TOKENS) :], excluded=UNKNOWN_SPELLINGS),
                max_bytes=spec.max_bytes,
                num_parsers=num_threads(threads),
            )
        case _:
            assert_never(spec)


_SUPPORTED: dict[type, tuple[str, ...]] = {
    PrefixSpec: (),
    LeadSpec: ("max_words",),
    TopiarySpec: ("threads",),
}

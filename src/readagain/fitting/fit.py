"""Public function that trains a model on a user's pairs; the command `fit` calls it."""

from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from readagain.errors import ArgumentError, require
from readagain.formats.records import OnError
from readagain.processors import check_parallelism

if TYPE_CHECKING:
    from rich.console import Console

    from readagain.fitting.job import FitResult
    from readagain.fitting.pairs import ProgressDisplay


def fit(
    pairs: str | Path | Sequence[str | Path],
    *,
    out: str | Path,
    size: str | None = None,
    base: str | Path | None = None,
    epochs: int | None = None,
    language: str | None = None,
    test: str | Path | None = None,
    text_column: str | None = None,
    headline_column: str | None = None,
    encoding: str = "utf-8",
    on_error: OnError = "skip",
    device: Literal["auto", "cpu", "cuda"] = "auto",
    threads: int = 0,
    overwrite: bool = False,
    console: "Console | None" = None,
    progress: "ProgressDisplay" = lambda: nullcontext(lambda progress: None),
) -> "FitResult":
    """Train a model on pairs and write a model directory with a report.

    The same call resumes an interrupted fit; with more epochs, it continues a finished fit.

    Args:
        pairs: files or folders of (text, headline) pairs in any format of `readagain prepare`.
        out: model folder to create; intermediate files are kept next to it, in a folder that ends
            in .work.
        size: size of the network, small, base or large; None: by the number of pairs and the
            device.
        base: bundled model or model folder to fine-tune.
        epochs: maximum number of epochs; a larger number continues a finished fit; None: by the
            number of pairs.
        language: language of the pairs, such as de; None: detected.
        test: pairs to evaluate on; None: split off from the other pairs.
        text_column: field or column of the text; None: detected.
        headline_column: field or column of the headline; None: detected.
        encoding: encoding of text, JSONL and CSV.
        on_error: what to do with invalid records: skip and report them, or stop at the first.
        device: device; auto uses a GPU if there is one.
        threads: number of CPU threads; 0 chooses by the size of the network.
        overwrite: replace an existing fit in `out`.
        console: where messages are printed.
        progress: opens a progress display while pairs are read.

    Raises:
        ReadAgainError: naming the input, option or directory and the problem.
    """
    if threads:
        check_parallelism("threads", threads)
    for module in ("onnx", "torch"):
        require(module, extra="train", purpose="fitting a model")
    from rich.console import Console

    from readagain.corpus.inputs import TooFewPairsError
    from readagain.corpus.readers.find import CorpusReadOptions, find_inputs
    from readagain.fitting.job import FitJob
    from readagain.fitting.plan import SIZES
    from readagain.fitting.work_dir import FitDir
    from readagain.model_dir import check_new_dir
    from readagain.storage.bundled import find_model
    from readagain.text.language import find_language

    out = Path(out)
    if size is not None and base is not None:
        raise ArgumentError("{size}: conflicts with {base}, whose network is kept; remove one")
    if size is not None and size not in SIZES:
        raise ArgumentError("{size} is '{0}'; expected {1}", size, ", ".join(SIZES))
    if epochs is not None and epochs < 1:
        raise ArgumentError("{epochs} is {0}; expected 1 or more", epochs)
    train_paths = [str(path) for path in ([pairs] if isinstance(pairs, str | Path) else pairs)]
    test_paths = [] if test is None else [str(test)]
    read_options = CorpusReadOptions(
        text_column=text_column, headline_column=headline_column, encoding=encoding
    )
    job = FitJob(
        out=out,
        inputs=[
            *find_inputs(train_paths, read_options, exclude=[*map(Path, test_paths)]),
            *find_inputs(test_paths, read_options, split="test"),
        ],
        size=size,
        base=None if base is None else find_model(base),
        epochs=epochs,
        language=None if language is None else find_language(language).code,
        on_error=on_error,
        device=device,
        threads=threads,
        console=console or Console(),
        progress=progress,
    )
    if job.work.read_identity() is None:
        check_new_dir(out)
    with FitDir.open(job.work.directory, job.identity, overwrite=overwrite):
        try:
            return job.run()
        except TooFewPairsError:  # nothing to resume
            job.work.delete()
            raise

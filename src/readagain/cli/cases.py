"""`readagain cases`: tell a model how its words are written, from a corpus prepared later."""

from pathlib import Path
from typing import Annotated

import typer

from readagain.counts import counted


def command(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A model folder.")],
    prepared: Annotated[
        Path,
        typer.Argument(metavar="PREPARED", help="A prepared corpus, best the one it learned from."),
    ],
) -> None:
    """Let a model write its words with the capitals that a corpus has; weights stay as they are.

    A model that is trained now has them already; this is for one of before.
    """
    from readagain.corpus.shards import PreparedCorpus
    from readagain.errors import DataError
    from readagain.model_dir import ModelDir
    from readagain.storage.model_manifest import write_model_files
    from readagain.text.truecasing import CASES_FILE

    folder = ModelDir.open(model)
    cases = PreparedCorpus.open(prepared, checksums=True).cases.restricted_to(folder.vocab)
    if not cases:
        raise DataError(
            f"{prepared}: says nothing about the case of this model's words; prepare it again from "
            "texts that have capitals"
        )
    write_model_files(model, {CASES_FILE: cases.save})
    number = counted(len(cases), "word or pair", "words and pairs")
    print(f"{model}: {number}, as {prepared} writes them")

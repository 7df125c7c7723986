"""`readagain cases`: add truecasing to a model."""

from pathlib import Path
from typing import Annotated

import typer

from readagain.counts import pluralize


def command(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="Model folder.")],
    prepared: Annotated[
        Path,
        typer.Argument(
            metavar="PREPARED", help="Prepared corpus, preferably the one of the training."
        ),
    ],
) -> None:
    """Add the capitalization of a corpus to a model folder; the weights stay the same.

    Only models of older versions need this.
    """
    from readagain.corpus.shards import PreparedCorpus
    from readagain.errors import DataError
    from readagain.model_dir import ModelDir
    from readagain.storage.model_manifest import write_model_files
    from readagain.text.truecasing import CASES_FILE

    model_dir = ModelDir.open(model)
    truecaser = PreparedCorpus.open(prepared, checksums=True).truecaser.restricted_to(
        model_dir.vocab
    )
    if not truecaser:
        raise DataError(
            f"{prepared}: has no capitalization for the words of this model; prepare it again from "
            "texts with capitals"
        )
    write_model_files(model, {CASES_FILE: truecaser.save})
    number = pluralize(len(truecaser), "word or pair", "words and pairs")
    print(f"{model}: {number}, capitalized as in {prepared}")

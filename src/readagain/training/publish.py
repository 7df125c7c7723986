"""Model folder of a run: its best weights, vocabularies and settings, and a model card."""

import json
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Any

from readagain.config.files import save_run
from readagain.config.parameters import count_parameters
from readagain.config.schema import ModelSpec, OnePassSpec, RunSpec
from readagain.counts import pluralize
from readagain.model_dir import (
    CARD_FILE,
    PROVENANCE_FILE,
    RUN_FILE,
    SCORES_FILE,
    SOURCE_VOCAB_FILE,
    VOCAB_FILE,
    WEIGHTS_FILE,
)
from readagain.rouge.options import UNICODE
from readagain.storage.model_manifest import write_model_files
from readagain.text.language import LANGUAGES, UNDETERMINED
from readagain.text.truecasing import CASES_FILE
from readagain.training.job import ResolvedJob
from readagain.training.state import Scores


def publish_model(
    path: Path,
    job: ResolvedJob,
    *,
    weights_file: Path,
    provenance: dict[str, Any],
    scores: Scores | None,
) -> None:
    """Write a model folder; graphs that were exported from other weights are removed.

    Raises:
        ArtifactError: if the disk is full or fails; the folder is then unchanged.
    """
    card = model_card(job.run, provenance, scores)
    score_table = {} if scores is None else {"dev": asdict(scores)}
    write_model_files(
        path,
        {
            RUN_FILE: lambda path: save_run(job.run, path),
            SOURCE_VOCAB_FILE: job.vocabs.source.save,
            VOCAB_FILE: job.vocabs.summary.save,
            **({CASES_FILE: job.truecaser.save} if job.truecaser else {}),
            WEIGHTS_FILE: lambda path: shutil.copyfile(weights_file, path),
            PROVENANCE_FILE: lambda path: _write_json(path, provenance),
            SCORES_FILE: lambda path: _write_json(path, score_table),
            CARD_FILE: lambda path: path.write_text(card, encoding="utf-8"),
        },
        replace_all=True,
    )


def _write_json(path: Path, content: dict[str, Any]) -> None:
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


_TEMPLATE = """\
# {title}

Generates a headline of a few words for a text{how}.

| | |
|---|---|
| network | {paper} |
| parameters | {parameters:,} |
| language | {language} |
| vocabularies | {source_words:,} source words, {summary_words:,} summary words{by_copying} |
| input | {reads} |
| trained on | {train_pairs} of `{corpus}` ({sources}), fingerprint `{fingerprint}` |
| initial weights | {began_from} |
| training | step {step:,}, {minutes:.1f} minutes on {device}, seed {seed} |
| version | readagain {package_version}, torch {torch_version} |

## Scores

{figures}

## Use

{use} For other text, another language, or a text whose main
point comes after the part that is read, the headline may sound right and be wrong.

## Known failures

- It can {take} the wrong name or number, or put a right one into the wrong role.
- It can lose a negation or a condition, and so say the opposite of the text.
- It repeats what the text claims, true or not.

A person should compare a headline with its text before it is published.

## Licence

The weights are derived from the corpus named above; its licence limits their use.
"""


def model_card(run: RunSpec, provenance: dict[str, Any], scores: Scores | None) -> str:
    """Return the text of the model card."""
    corpus, began_from = provenance["corpus"], provenance["began_from"]
    sentences = run.data.num_sentences
    language = LANGUAGES[run.data.language]
    copies = isinstance(run.model, ModelSpec) and run.model.output != "softmax"
    return _TEMPLATE.format(
        title=run.title,
        how=_method_phrase(run, copies=copies),
        by_copying=", and every word of the text by copying" if copies else "",
        take="copy" if copies else "write",
        paper=run.paper,
        language=f"{language.name} ({language.code})",
        use="Text of the kind it was trained on."
        if language.code == UNDETERMINED
        else f"{language.name} text of the kind it was trained on.",
        parameters=count_parameters(run),
        source_words=run.source_vocab_size,
        summary_words=run.vocab_size,
        reads=f"the first {'sentence' if sentences == 1 else pluralize(sentences, 'sentence')}, "
        f"{pluralize(run.data.max_source_words, 'word')} "
        f"{'in all' if run.data.join_sentences else 'each'}",
        corpus=corpus["name"],
        sources=", ".join(corpus["sources"]),
        fingerprint=corpus["fingerprint"][:12],
        train_pairs=pluralize(corpus["train_pairs"], "pair"),
        began_from="random" if began_from is None else f"the model `{began_from['name']}`",
        figures=_figures(run, provenance, scores),
        **{
            name: provenance[name]
            for name in ("step", "minutes", "device", "seed", "package_version", "torch_version")
        },
    )


def _method_phrase(run: RunSpec, *, copies: bool) -> str:
    """Return the phrase about reading twice and copying, for networks that do so."""
    reads_twice = isinstance(run.model, ModelSpec) and not isinstance(
        run.model.encoder, OnePassSpec
    )
    methods = ["reading it twice"] * reads_twice + ["copying from it"] * copies
    return f", by {' and '.join(methods)}" if methods else ""


def _figures(run: RunSpec, provenance: dict[str, Any], scores: Scores | None) -> str:
    if scores is None:
        return "The corpus had no dev split, so nothing was measured."
    dev_pairs = provenance["corpus"]["dev_pairs"]
    lines = [
        "| measured on | score | value |",
        "|---|---|---|",
        f"| {pluralize(dev_pairs, 'dev pair')} | negative log-probability of a word | "
        f"{scores.dev_loss:.3f} |",
    ]
    measured = pluralize(min(run.train.rouge_pairs, dev_pairs), "dev pair")
    is_unicode = provenance["rouge_protocol"] == UNICODE
    words = "F1 over Unicode words" if is_unicode else "F1 of ROUGE-1.5.5, stemmed"
    for name, value in (
        ("ROUGE-1", scores.rouge_1),
        ("ROUGE-2", scores.rouge_2),
        ("ROUGE-L", scores.rouge_l),
    ):
        if value is not None:
            lines.append(f"| {measured} | {name} {words}, per cent | {value:.1f} |")
    lines += ["", f"Beam size {run.decode.beam_size}; scored before detokenization."]
    return "\n".join(lines)

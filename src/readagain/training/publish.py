"""Model folder of a run: best weights, vocabularies, settings, scores and a model card."""

import json
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Any

from readagain.config.files import save_run
from readagain.config.schema import ModelSpec, OnePassSpec, RunSpec
from readagain.errors import pluralize
from readagain.model_dir import (
    CARD_FILE,
    PROVENANCE_FILE,
    RUN_FILE,
    SCORES_FILE,
    SOURCE_VOCAB_FILE,
    VOCAB_FILE,
    WEIGHTS_FILE,
)
from readagain.networks.build import count_parameters
from readagain.rouge.options import UNICODE_PROTOCOL
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
    """Write the model folder of a run; remove ONNX graphs of earlier weights.

    `weights_file`, which is copied, has the best weights, and `provenance` and `scores` describe
    them; `scores` is None without dev pairs.

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

Generates a headline of a few words for a text{method}.

| | |
|---|---|
| network | {paper} |
| parameters | {parameters:,} |
| language | {language} |
| vocabularies | {source_words:,} source words, {summary_words:,} summary words{by_copying} |
| input | {input_size} |
| trained on | {train_pairs} of `{corpus}` ({sources}), fingerprint `{fingerprint}` |
| initial weights | {initial_weights} |
| training | step {step:,}, {minutes:.1f} minutes on {device}, seed {seed} |
| version | readagain {package_version}, torch {torch_version} |

## Scores

{scores}

## Use

The model is meant for {input_text} of the kind it was trained on. For other text, another language,
or a text whose main point comes after the part that is read, the headline may sound right and be
wrong.

## Known failures

- It can {copy_or_write} the wrong name or number, or put a right one into the wrong role.
- It can lose a negation or a condition, and so say the opposite of the text.
- It repeats what the text claims, true or not.

A person should compare a headline with its text before it is published.

## Licence

The weights are derived from the corpus named above; its licence limits their use.
"""


def model_card(run: RunSpec, provenance: dict[str, Any], scores: Scores | None) -> str:
    """Return the text of the model card."""
    corpus, base_model = provenance["corpus"], provenance["began_from"]
    num_sentences = run.data.num_sentences
    sentences = "sentence" if num_sentences == 1 else pluralize(num_sentences, "sentence")
    words = pluralize(run.data.max_source_words, "word")
    language = LANGUAGES[run.data.language]
    can_copy = isinstance(run.model, ModelSpec) and run.model.output != "softmax"
    return _TEMPLATE.format(
        title=run.title,
        method=_describe_method(run, can_copy=can_copy),
        by_copying=", and every word of the text by copying" if can_copy else "",
        copy_or_write="copy" if can_copy else "write",
        paper=run.paper,
        language=f"{language.name} ({language.code})",
        input_text="text" if language.code == UNDETERMINED else f"{language.name} text",
        parameters=count_parameters(run),
        source_words=run.source_vocab_size,
        summary_words=run.vocab_size,
        input_size=f"the first {sentences}, {words} "
        f"{'in all' if run.data.join_sentences else 'each'}",
        corpus=corpus["name"],
        sources=", ".join(corpus["sources"]),
        fingerprint=corpus["fingerprint"][:12],
        train_pairs=pluralize(corpus["train_pairs"], "pair"),
        initial_weights="random" if base_model is None else f"the model `{base_model['name']}`",
        scores=_format_scores(run, provenance, scores),
        **{
            name: provenance[name]
            for name in ("step", "minutes", "device", "seed", "package_version", "torch_version")
        },
    )


def _describe_method(run: RunSpec, *, can_copy: bool) -> str:
    """Return ", by reading it twice and copying from it", or less if the network does less."""
    methods = []
    if isinstance(run.model, ModelSpec) and not isinstance(run.model.encoder, OnePassSpec):
        methods.append("reading it twice")
    if can_copy:
        methods.append("copying from it")
    return f", by {' and '.join(methods)}" if methods else ""


def _format_scores(run: RunSpec, provenance: dict[str, Any], scores: Scores | None) -> str:
    """Return the scores of the dev pairs as a Markdown table."""
    if scores is None:
        return "The corpus had no dev split, so nothing was measured."
    dev_pairs = provenance["corpus"]["dev_pairs"]
    lines = [
        "| measured on | score | value |",
        "|---|---|---|",
        f"| {pluralize(dev_pairs, 'dev pair')} | negative log-probability of a word | "
        f"{scores.dev_loss:.3f} |",
    ]
    rouge_pairs = pluralize(min(run.train.rouge_pairs, dev_pairs), "dev pair")
    is_unicode = provenance["rouge_protocol"] == UNICODE_PROTOCOL
    protocol = "F1 over Unicode words" if is_unicode else "F1 of ROUGE-1.5.5, stemmed"
    for name, value in (
        ("ROUGE-1", scores.rouge_1),
        ("ROUGE-2", scores.rouge_2),
        ("ROUGE-L", scores.rouge_l),
    ):
        if value is not None:
            lines.append(f"| {rouge_pairs} | {name} {protocol}, per cent | {value:.1f} |")
    lines += ["", f"Beam size {run.decode.beam_size}; scored before detokenization."]
    return "\n".join(lines)

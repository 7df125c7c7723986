"""Summaries of the inputs that the paper prints (Table 5) and of an invented text.

For copied words, the neighbours of p_i are also computed. p_i is the embedding that the decoder
uses for a word copied from source position i (equation 15). Its neighbours are the words of the
decoder vocabulary with the most similar embeddings.
"""

from typing import TYPE_CHECKING, Any

from readagain.experiments.catalog import EXPERIMENTS, PAGE_TEXTS, PAPER_EXAMPLES
from readagain.experiments.results import ExperimentResult
from readagain.experiments.store import ResultStore, SeedResults

if TYPE_CHECKING:
    from readagain.experiments.trained_model import ExperimentModel

# Experiments whose summaries are shown.
WITH_COPYING, WITHOUT_COPYING = "read_again_lstm_copy_15k", "read_again_lstm_15k"
_TWO_SENTENCES = ("two_sentences_option1_copy_15k", "two_sentences_option2_copy_15k")
_NUM_NEIGHBOURS = 5
_PROTOCOL = "gigaword"


def run_paper_examples(model: "ExperimentModel") -> list[dict[str, Any]]:
    """Summarize the texts of `PAPER_EXAMPLES`.

    Returns:
        For each text: `word`, the word to examine; `summary`, our summary; and `neighbours` of
        that word and of the out-of-vocabulary words in the summary. `neighbours` is empty for a
        network without p_i. For each word it has `is_oov`, whether the word is out of vocabulary,
        and `words`, its neighbours with their cosine similarity.
    """
    texts = [example.text for example in PAPER_EXAMPLES]
    system = model.system(_PROTOCOL, allow_unk=not model.can_copy)
    summaries = system.summarize(texts, is_tokenized=True)
    vocab = model.model_dir.vocab
    examples = []
    for example, summary in zip(PAPER_EXAMPLES, summaries, strict=True):
        norms = [word.norm for word in summary.words]
        oov_words = [norm for norm in norms if norm not in vocab and any(map(str.isalpha, norm))]
        neighbours = {
            word: {"is_oov": word not in vocab, "words": words}
            for word, words in model.copy_neighbours(
                example.text, [example.word, *oov_words], num_neighbours=_NUM_NEIGHBOURS
            ).items()
        }
        examples.append({"word": example.word, "summary": summary.text, "neighbours": neighbours})
    return examples


def examples_markdown(store: ResultStore) -> str:
    """Return the input texts with the paper's summaries and ours; "" if there are none of ours."""
    runs = [
        run
        for recipe in store.recipes
        for name in (WITHOUT_COPYING, WITH_COPYING, *_TWO_SENTENCES)
        if (results := store.find(name, recipe))
        for run in _shown_runs(results)
    ]
    if not runs:
        return ""
    lines = []
    for index, example in enumerate(PAPER_EXAMPLES):
        is_of_paper = bool(example.reference)
        lines.append(f"- input: {' '.join(example.text.split())}")
        if is_of_paper:
            lines.append(f"  - reference: {example.reference}")
            lines.append(f"  - the paper without copying: {example.without_copying}")
            lines.append(f"  - the paper with copying: {example.with_copying}")
        for run in runs:
            # The paper's inputs have only one sentence.
            if not (is_of_paper and run.row in _TWO_SENTENCES):
                lines += _example_lines(run, index)
        if not is_of_paper and not any(run.row in _TWO_SENTENCES for run in runs):
            lines.append(
                "  - networks that read both sentences: not run; these read the first only"
            )
    text = "\n".join(lines)
    # Escape characters that have a meaning in Markdown: the brackets of <unk>, and # for digits.
    text = text.replace("<", "&lt;").replace(">", "&gt;").replace("#", "\\#")
    return f"### The paper's inputs\n\n{PAGE_TEXTS['paper_inputs']}\n\n{text}"


def _shown_runs(results: SeedResults) -> list[ExperimentResult]:
    """Return the runs with examples; of these, those that may generate UNK, if there are any.

    Early runs generated no UNK. Since then, a network without copying may generate UNK in the
    examples, and it is also scored with UNK allowed.
    """
    runs = [run for run in results.runs if run.examples]
    return [run for run in runs if _allows_unk(run)] or runs


def _allows_unk(run: ExperimentResult) -> bool:
    return any(scored.own and scored.own["allow_unk"] for scored in run.sets.values())


def _example_lines(run: ExperimentResult, index: int) -> list[str]:
    """Return the summary of an example with the neighbours of its words."""
    assert run.examples is not None
    result = run.examples[index]
    label = f"{EXPERIMENTS[run.row].title}, recipe {run.recipe}, seed {run.seed}"
    if not run.can_copy and not _allows_unk(run):
        label += ", without UNK"
    lines = [f"  - {label}: {result['summary']}"]
    for word, found in result["neighbours"].items():
        position = "outside" if found["is_oov"] else "in"
        nearest = ", ".join(f"{neighbour} {cosine:.2f}" for neighbour, cosine in found["words"])
        lines.append(f"    - p_i of *{word}* ({position} the vocabulary): {nearest}")
    return lines

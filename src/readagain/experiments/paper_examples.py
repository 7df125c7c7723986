"""Summaries of the inputs that the paper prints (Table 5) and of an invented one.

They come with the neighbours of copied words: words whose embeddings are similar to p_i, the
embedding of a word that is copied from source position i (equation 15).
"""

from typing import TYPE_CHECKING, Any

from readagain.experiments.catalog import EXPERIMENTS, PAGE_TEXTS, PAPER_EXAMPLES
from readagain.experiments.store import ResultStore

if TYPE_CHECKING:
    from readagain.experiments.trained_model import ExperimentModel

WITH, WITHOUT = "read_again_lstm_copy_15k", "read_again_lstm_15k"
"""The experiments with and without copying that are shown."""
_TWO_SENTENCES = ("two_sentences_option1_copy_15k", "two_sentences_option2_copy_15k")
_NUM_NEIGHBOURS = 5
_PROTOCOL = "gigaword"


def run_paper_examples(model: "ExperimentModel") -> list[dict[str, Any]]:
    """Summarize the inputs in `PAPER_EXAMPLES`.

    Returns:
        For each input a dictionary with the `word` that the paper copies, our `summary`, and
        `neighbours`, which is empty for a network without p_i. The keys of `neighbours` are `word`
        and the out-of-vocabulary words of the summary. Each value has `is_oov`, whether the key is
        out of vocabulary, and `words`, its nearest words with their cosine.
    """
    texts = [example.text for example in PAPER_EXAMPLES]
    system = model.system(_PROTOCOL, allow_unk=not model.can_copy)
    summaries = system.summarize(texts, is_tokenized=True)
    vocab = model.model_dir.vocab
    examples = []
    for example, summary in zip(PAPER_EXAMPLES, summaries, strict=True):
        norms = [word.norm for word in summary.words]
        oov_words = [norm for norm in norms if norm not in vocab and any(map(str.isalpha, norm))]
        nearest = model.copy_neighbours(
            example.text, [example.word, *oov_words], num_words=_NUM_NEIGHBOURS
        )
        neighbours = {
            word: {"is_oov": word not in vocab, "words": words} for word, words in nearest.items()
        }
        examples.append({"word": example.word, "summary": summary.text, "neighbours": neighbours})
    return examples


def examples_markdown(store: ResultStore) -> str:
    """Return the inputs with the paper's summaries and ours; empty without any of ours."""
    ours = {
        (name, recipe): results.runs[0].examples
        for recipe in store.recipes
        for name in (WITHOUT, WITH, *_TWO_SENTENCES)
        if (results := store.find(name, recipe)) and results.runs[0].examples
    }
    if not ours:
        return ""
    lines = []
    for number, example in enumerate(PAPER_EXAMPLES):
        lines.append(f"- input: {' '.join(example.text.split())}")
        if example.reference:
            lines.append(f"  - reference: {example.reference}")
            lines.append(f"  - the paper without copying: {example.without_copying}")
            lines.append(f"  - the paper with copying: {example.with_copying}")
        for (name, recipe), examples in ours.items():
            if name in _TWO_SENTENCES and example.reference:
                continue  # inputs with a reference are the paper's, which have one sentence
            result = examples[number]
            lines.append(f"  - {EXPERIMENTS[name].title}, recipe {recipe}: {result['summary']}")
            for word, each in result["neighbours"].items():
                place = "outside" if each["is_oov"] else "in"
                nearest = ", ".join(f"{near} {cosine:.2f}" for near, cosine in each["words"])
                lines.append(f"    - p_i of *{word}* ({place} the vocabulary): {nearest}")
    text = "\n".join(lines)
    # Escape what Markdown would not show: the brackets of <unk>, and # for digits.
    text = text.replace("<", "&lt;").replace(">", "&gt;").replace("#", "\\#")
    return f"### The paper's inputs\n\n{PAGE_TEXTS['paper_inputs']}\n\n{text}"

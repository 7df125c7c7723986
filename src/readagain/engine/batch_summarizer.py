"""Summarization of a batch of texts: beam search, short texts, confidence and warnings."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from readagain.config.options import SummarizeOptions
from readagain.config.schema import DecodeSpec, RunSpec
from readagain.engine.confidence import ConfidenceModel, features_and_checks
from readagain.engine.detokenizer import Detokenizer
from readagain.engine.explanation import explain, source_importance
from readagain.engine.grounding import UngroundedWords
from readagain.engine.onnx_model import OnnxStepModel
from readagain.engine.short_texts import copy_whole_text, is_too_short, shorten_first_sentence
from readagain.engine.source import SourceReader, SourceText
from readagain.engine.summary import Summary
from readagain.engine.target_prefix import TargetPrefix
from readagain.engine.warnings import NO_WORDS_MESSAGE, SummaryWarning, source_warnings, warning
from readagain.errors import ConfigError
from readagain.search.constraints import ByteLengthConstraint, Constraint
from readagain.search.decoding import decode_sources
from readagain.search.hypotheses import Hypothesis
from readagain.search.model import SourceBatch, StepModel
from readagain.text.truecasing import Truecaser
from readagain.text.vocab import Vocab

NBest = Sequence[tuple[Hypothesis | None, Summary]]
"""The best hypotheses of one source and their summaries; an empty summary has no hypothesis."""

_MIN_END_LOG_PROB = math.log(0.01)
"""Log-probability of its end below which a headline may be cut off, by a limit of words or bytes.

Without a limit, `news` ended none of 3,000 headlines with a lower probability.
"""


@dataclass(frozen=True, kw_only=True)
class CallOptions:
    """Checked options of one `summarize` call.

    Args:
        values: value of every option.
        decode: settings of the model, with the options applied.
        prefix: words that every summary starts with.
        copies_short_texts: whether a text that is too short becomes its own summary.
    """

    values: SummarizeOptions
    decode: DecodeSpec
    prefix: TargetPrefix
    copies_short_texts: bool


class BatchSummarizer:
    """Summarizer of batches; its arguments are described in `Summarizer`."""

    def __init__(
        self,
        run: RunSpec,
        source_vocab: Vocab,
        vocab: Vocab,
        truecaser: Truecaser | None,
        confidence: ConfidenceModel | None,
    ) -> None:
        self.reader = SourceReader(run, source_vocab, vocab)
        self.language = self.reader.language
        self.confidence = confidence
        self._spec = run.model
        self._detokenizer = Detokenizer(vocab, truecaser, self.language)
        self._ungrounded = UngroundedWords(vocab, self._detokenizer.truecaser, self.language)

    def summarize(
        self, sources: Sequence[SourceText], options: CallOptions, model: StepModel[Any]
    ) -> list[Summary]:
        """Return the summaries of a batch of texts that were read by `reader`."""
        short, long = [], []  # indices in `sources`
        summaries: dict[int, Summary] = {}  # by index in `sources`
        for index, source in enumerate(sources):
            if source.is_empty:
                no_words = SummaryWarning("too_short", NO_WORDS_MESSAGE)
                empty = self._empty_summary(source, options)
                summaries[index] = replace(empty, warnings=(no_words,))
            elif options.copies_short_texts and is_too_short(source):
                short.append(index)
            else:
                long.append(index)
        copied = self._copy_short_texts([sources[index] for index in short], options, model)
        summaries.update(zip(short, copied, strict=True))
        searched = self._search([sources[index] for index in long], options, model)
        summaries.update(zip(long, searched, strict=True))
        return [summaries[index] for index in range(len(sources))]

    def _search(
        self, sources: Sequence[SourceText], options: CallOptions, model: StepModel[Any]
    ) -> list[Summary]:
        """Summarize texts by beam search, and replace summaries below the minimum confidence."""
        if not sources:
            return []
        decode, prefix = options.decode, options.prefix
        batch = self.reader.batch(sources, style=decode.style)
        constraints: list[Constraint] = []
        if not options.values["tokenized"]:
            constraints.append(self._ungrounded.constraint(sources, names=decode.names_from_source))
        if decode.min_bytes or decode.max_bytes:
            constraints.append(
                ByteLengthConstraint(
                    vocab_bytes=self._detokenizer.vocab_bytes,
                    source_bytes=self._detokenizer.source_bytes(sources, self.reader.num_sequences),
                    minimum=decode.min_bytes,
                    maximum=decode.max_bytes or None,
                    prefix_bytes=prefix.word_bytes,
                )
            )
        hypothesis_lists = decode_sources(
            model,
            batch,
            decode,
            n_best=decode.beam_size if decode.check_penalty else options.values["n_best"],
            constraints=constraints,
            prefix=self.reader.forced_prefix(sources, prefix) if prefix else None,
        )
        n_best_lists = []
        for row, (source, hypotheses) in enumerate(zip(sources, hypothesis_lists, strict=True)):
            n_best = self._rank(source, hypotheses, options)
            best = n_best[0][1]
            if best.confidence is not None and best.confidence < options.values["min_confidence"]:
                n_best = [self._fall_back(best, source, batch, row, options)]
            n_best_lists.append(n_best)
        return self._to_results(sources, batch, n_best_lists, options, model)

    def _copy_short_texts(
        self, sources: Sequence[SourceText], options: CallOptions, model: StepModel[Any]
    ) -> list[Summary]:
        """Return short texts as their own summaries, each with a warning."""
        if not sources:
            return []
        batch = self.reader.batch(sources)
        n_best_lists: list[NBest] = []
        for row, source in enumerate(sources):
            hypothesis = copy_whole_text(source, batch, row, max_words=options.decode.max_words)
            empty = self._empty_summary(source, options)
            copied = self._to_summary(empty, source, hypothesis, options)
            # A text of a script without spaces has few words, but need not be short.
            if all(other.code != "language" for other in copied.warnings):
                copied = _add_warnings(copied, "too_short")
            n_best_lists.append([(hypothesis, copied)])
        return self._to_results(sources, batch, n_best_lists, options, model)

    def _rank(
        self, source: SourceText, hypotheses: Sequence[Hypothesis], options: CallOptions
    ) -> NBest:
        """Return the best hypotheses of one source and their summaries, best first.

        `check_penalty` is subtracted from the score of a summary for each check that it fails. The
        hypotheses come sorted by their scores without this penalty. So the loop ends as soon as
        `n_best` summaries have at least the score of the next hypothesis.
        """
        n_best, penalty = options.values["n_best"], options.decode.check_penalty
        empty = self._empty_summary(source, options)
        ranked: list[tuple[Hypothesis, Summary]] = []
        for hypothesis in hypotheses:
            if len(ranked) >= n_best and ranked[n_best - 1][1].score >= hypothesis.score:
                break
            summary = self._to_summary(empty, source, hypothesis, options)
            if summary.text and not options.values["tokenized"]:
                features, failed = features_and_checks(summary, source, self.language)
                if self.confidence is not None:
                    summary = replace(summary, confidence=self.confidence.confidence(features))
                summary = replace(summary, score=summary.score - penalty * len(failed))
                summary = _add_warnings(summary, *failed)
            ranked.append((hypothesis, summary))
            ranked.sort(key=lambda pair: (not pair[0].meets_min_length, -pair[1].score))
        return ranked[:n_best] or [(None, empty)]

    def _fall_back(
        self, best: Summary, source: SourceText, batch: SourceBatch, row: int, options: CallOptions
    ) -> tuple[Hypothesis | None, Summary]:
        """Replace `best`, a summary below the minimum confidence; keep its confidence."""
        empty = replace(self._empty_summary(source, options), confidence=best.confidence)
        if options.values["fallback"] == "none":
            return None, _add_warnings(empty, "low_confidence")
        hypothesis = shorten_first_sentence(source, batch, row, max_words=options.decode.max_words)
        sentence = self._to_summary(empty, source, hypothesis, options)
        return hypothesis, _add_warnings(sentence, "fallback")

    def _to_results(
        self,
        sources: Sequence[SourceText],
        batch: SourceBatch,
        n_best_lists: Sequence[NBest],
        options: CallOptions,
        model: StepModel[Any],
    ) -> list[Summary]:
        """Return the best summary of each source, with its alternatives and its explanation."""
        result = [
            replace(best, alternatives=tuple(summary for _, summary in others))
            for (_, best), *others in n_best_lists
        ]
        if not options.values["explain"]:
            return result
        if not isinstance(model, OnnxStepModel):
            raise ConfigError(
                "explain: only supported with exported graphs; run 'readagain export' first"
            )
        importance = source_importance(model, self._spec, batch)
        for row, (source, n_best) in enumerate(zip(sources, n_best_lists, strict=True)):
            hypothesis, best = n_best[0]
            if hypothesis is not None:
                explanation = explain(importance, batch, row, source, hypothesis, len(best.words))
                result[row] = replace(result[row], explanation=explanation)
        return result

    def _to_summary(
        self, empty: Summary, source: SourceText, hypothesis: Hypothesis, options: CallOptions
    ) -> Summary:
        """Return `empty` with the words of a hypothesis."""
        prefix = options.prefix
        text, tokens = self._detokenizer.detokenize(
            self._detokenizer.tokens(hypothesis, source, prefix),
            source,
            prefix,
            case=options.values["case"],
            max_bytes=options.decode.max_bytes,
        )
        summary = replace(
            empty,
            text=text,
            score=hypothesis.score,
            words=tuple(tokens),
            end_log_prob=float(hypothesis.log_probs[-1]),
        )
        if options.values["tokenized"]:
            return summary
        left_out_words = len(tokens) < len(hypothesis.ids)
        is_cut_off = left_out_words or summary.end_log_prob < _MIN_END_LOG_PROB
        return _add_warnings(summary, "cut_off") if is_cut_off else summary

    def _empty_summary(self, source: SourceText, options: CallOptions) -> Summary:
        """Return a summary without words, with the warnings about the source text."""
        return Summary(
            text="",
            score=0.0,
            words=(),
            read_sentences=len(source.document.sentences),
            truncated=source.is_truncated,
            read_share=source.read_share,
            warnings=() if options.values["tokenized"] else source_warnings(source, self.language),
        )


def _add_warnings(summary: Summary, *codes: str) -> Summary:
    """Return a summary with additional warnings; those that it has already are not repeated."""
    return replace(
        summary, warnings=tuple(dict.fromkeys((*summary.warnings, *map(warning, codes))))
    )

"""The part of a prepared corpus whose texts have several sentences, as a corpus of its own."""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from readagain.corpus.manifest import CorpusManifest, describe_files, fingerprint
from readagain.corpus.select import SPLITS
from readagain.corpus.shards import LEXICON_FILE, CorpusShard, PreparedCorpus, texts_file
from readagain.errors import ArtifactError, DataError
from readagain.text.cases import CASES_FILE


def several_sentences(corpus: PreparedCorpus, out: Path, *, minimum: int) -> PreparedCorpus:
    """Open the pairs whose texts have at least `minimum` sentences; write them first if need be.

    Lexicon and cases stay those of the whole corpus, so that vocabularies are the same ones, and
    words are written in the same way.

    Raises:
        DataError: when no such text is left to train on or to score.
    """
    try:
        found = PreparedCorpus.open(out)
    except ArtifactError:
        shutil.rmtree(out, ignore_errors=True)
        _write(corpus, out, minimum)
        return PreparedCorpus.open(out)
    if found.manifest.settings.get("taken_from") != corpus.manifest.fingerprint:
        shutil.rmtree(out)
        return several_sentences(corpus, out, minimum=minimum)
    return found


def _write(corpus: PreparedCorpus, out: Path, minimum: int) -> None:
    aside = out.with_name(f"{out.name}.part")
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir(parents=True)
    for name in (LEXICON_FILE, CASES_FILE):
        if name in corpus.manifest.files:  # older corpora have no cases
            shutil.copyfile(corpus.folder / name, aside / name)
    splits: dict[str, dict[str, int]] = {
        name: _write_split(corpus, name, aside, minimum) for name in SPLITS
    }
    for name in ("train", "dev"):
        if not splits[name]["pairs"]:
            raise DataError(
                f"{corpus.folder}: no text of its {name} split has {minimum} sentences, which rows "
                "of several sentences need; prepare a corpus of longer texts"
            )
    settings = {
        **corpus.manifest.settings,
        "min_sentences": minimum,
        "taken_from": corpus.manifest.fingerprint,
    }
    files = describe_files(aside)
    manifest: CorpusManifest = replace(
        corpus.manifest,
        settings=settings,
        splits=splits,
        files=files,
        fingerprint=fingerprint(files),
    )
    manifest.save(aside)
    aside.rename(out)


def _write_split(corpus: PreparedCorpus, name: str, out: Path, minimum: int) -> dict[str, int]:
    """Write the shards and the texts of what is kept of a split; return its counts."""
    counts = {"pairs": 0, "segments": 0, "words": 0, "shards": 0}
    kept_pairs: list[NDArray[np.bool_]] = []
    for shard in corpus.split(name).shards:
        kept = np.diff(shard.pairs) - 1 >= minimum  # (P,)
        kept_pairs.append(kept)
        taken = _taken(shard, kept)
        taken.save(out, name, counts["shards"])
        counts["shards"] += 1
        counts["pairs"] += len(taken)
        counts["segments"] += len(taken.segments) - 1
        counts["words"] += len(taken.words)
    texts = corpus.folder / texts_file(name)
    if texts.exists():
        is_kept = np.concatenate(kept_pairs)
        with (
            texts.open(encoding="utf-8", newline="\n") as lines,
            (out / texts_file(name)).open("w", encoding="utf-8", newline="\n") as file,
        ):
            file.writelines(line for line, kept in zip(lines, is_kept, strict=True) if kept)
    return counts


def _taken(shard: CorpusShard, kept: NDArray[np.bool_]) -> CorpusShard:
    """Keep some pairs of a shard."""
    segments_of = np.diff(shard.pairs)  # (P,)
    words_of = np.diff(shard.segments)  # (G,)
    kept_segments = np.repeat(kept, segments_of)  # (G,)
    kept_words = np.repeat(kept_segments, words_of)  # (W,)
    return CorpusShard(
        words=shard.words[kept_words],
        segments=_starts(words_of[kept_segments]),
        pairs=_starts(segments_of[kept]),
        origins=shard.origins[kept],
    )


def _starts(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)])

"""Seed inputs of the fuzzer: small valid files and requests, which it mutates."""

import gzip
import io
import json
import lzma
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from readagain.config.files import run_to_json, run_to_toml
from readagain.corpus.manifest import fingerprint, list_files
from readagain.corpus.shards import LEXICON_FILE, CorpusShard
from readagain.presets import PRESETS

MODELS = Path(__file__).parents[2] / "assets" / "models"

TEXTS = [
    b"The harbour of Norrvik opened on Monday. Ships came at dawn, officials said.",
    b'A storm closed 12 schools in Eastmoor (pop. 4,500) -- "for a week", Dr. Tarn\'s office said.',
    "“Prices rose 3.5%,” the U.S. agency’s Ph.D. said… naïve café № 7 – 東京 🙂 é".encode(),
    b"- first point\n- second point\n\n1. third (a) p.m. e.g. i.e. ... !!! ??",
    b"no capital no stop",
    b"a" * 2000,
    "e\u0301\u0316 noir \u202ex".encode(),
    b"''``\"\"''s n't can't won't '' 'tis #1 ## -lrb- -rrb- http://example.org/a?b=c a@b.cd",
]
JSONL = [
    b'{"text": "The harbour opened.", "headline": "Harbour opens", "n": 1}\n'
    b'{"text": "A storm came.", "headline": "Storm", "n": null}\n',
    b'{"abstract": "We prove\\n a thing.", "title": "A thing", "categories": "cs.CL"}\n',
    b'{"article": "\\u00e9\\ud83d\\ude42", "summary": ""}\n\n{"article": 3, "summary": "b"}\n',
    b'\xef\xbb\xbf{"text": "a", "headline": "b"}\r\n',
]
CSV = [
    b"text,headline,%s\nA storm,Storm\n" % b",".join(b"%d" % number for number in range(1000)),
    b'text,headline\nThe harbour opened.,Harbour opens\n"A ""big"" storm,\nit came.",Storm\n',
    b"description;title\na;b\n",
    b"article|summary\na|b\nc\n",
    b"text\theadline\nA storm\tStorm\n",
]
FILE_SEPARATOR = b"\x1e"
"""Separates two files in one input."""
PARALLEL = [
    b"the harbour opened .\na storm came .\n" + FILE_SEPARATOR + b"harbour opens\nstorm\n",
    b"UNK opened ## .\n" + FILE_SEPARATOR + b"UNK opens\n",
]
AGIGA = [
    b'<FILE id="afp_eng_199405">\n<DOC id="AFP_ENG_19940512.0001" type="story" >\n<HEADLINE>\n'
    b"(NP (NNP Tarn) (VBZ opens) (NN bridge))\n</HEADLINE>\n<TEXT>\n<P>\n(S (NNP Tarn) (VBD was)"
    b" (JJ calm) (. .))\n</P>\n</TEXT>\n<sentences>\n</sentences>\n</DOC>\n</FILE>\n"
]
DUC_DOCUMENTS = [
    b"<DOC>\n<TEXT>\n&UR; TARN (AP) _ A bridge opened.\n<P>\nIt is calm.\n</TEXT>\n</DOC>\n"
]
NEWSAPI = [
    b'{"status": "ok", "articles": [{"source": {"name": "Post"}, "title": "Storm - Post",'
    b' "description": "A storm came. \\u2026 [+120 chars]"}, {"title": null}]}',
    b'[{"title": "[Removed]", "content": "b   [+9 chars]"}]',
]
FEEDS = [
    b'<?xml version="1.0" encoding="utf-8"?><rss version="2.0"><channel><item><title>Calm</title>'
    b"<description>&lt;p&gt;It is calm &amp;amp; dry.&lt;/p&gt;</description></item>"
    b"</channel></rss>",
    b'<feed xmlns="http://www.w3.org/2005/Atom"><entry><title>Calm</title>'
    b"<summary>It is calm.</summary></entry></feed>",
    b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY x "y"><!ENTITY z SYSTEM "file:///etc/passwd">]>'
    b"<rss>&x;&z;</rss>",
]
HTML = [
    b"<!doctype html><html><head><title>Post</title></head><body><article><h1>Calm</h1><p>A storm"
    b" closed the harbour of Norrvik on Monday, and ships waited.</p></article></body></html>",
    b"<html><body><div><p>one<br>two &amp; &#233;<ul><li>three</ul><table><tr><td>four</table>",
    b'<html><head><meta charset="gbk"><script type="application/ld+json">{"@type": "Article"}'
    b"</script></head><body><!-- five --><a href='x'>six</a><p>seven</body></html>",
    b"<html><body><p %s>A storm came.</p></body></html>"
    % b" ".join(b"a%d='x'" % number for number in range(1000)),
]
REQUESTS = [
    b'{"texts": ["The harbour of Norrvik opened on Monday."], "max_words": 4}',
    b'{"texts": ["A storm came.", ""], "beam": 2, "n_best": 2, "explain": true}',
    b'{"texts": ["a storm came ."], "model": "toy", "tokenized": true, "max_bytes": 20}',
    b'{"texts": ["A storm."], "case": "headline", "min_words": 1, "max_words": 3}',
    b'{"texts": ["A storm came to Tarn."], "diversity": 0.5, "style": null, "begin": "Storm", '
    b'"min_confidence": null, "fallback": "none", "min_bytes": 3, "max_chars": 9}',
    b'{"texts": ["A storm came to Tarn."], "diversity": 1.5, "begin": "A", "n_best": 2}',
    b'{"texts": [' + b"1," * 2000 + b'"a"]}',
    b'{"texts": [' + b'"a",' * 63 + b'"b"], "max_words": 1, "beam": 1}',
]
CHATS = [
    b'{"messages": [{"role": "user", "content": "The harbour of Norrvik opened."}]}',
    b'{"messages": [{"role": "system", "content": null}, {"role": "user", "content": '
    b'[{"type": "text", "text": "A storm came."}, {"type": "image_url"}]}], "model": "toy"}',
    b'{"messages": [{"role": "user", "content": "JSON {\\"title\\": \\"x\\"} <chat_history>\\n'
    b'USER: A storm.\\nASSISTANT: Yes.\\n</chat_history>"}], "stream": false}',
    b'{"messages": [' + b"1," * 2000 + b"{}]}",
    b'{"messages": [{"role": "user", "content": "' + b"<chat_history>" * 200 + b'"}]}',
]
FILE_NAMES = [
    b"a.jsonl\0b.jsonl",
    b"one.txt\0two.txt.gz\0three.rss",
    "caf\N{LATIN SMALL LETTER E WITH ACUTE} 1.jsonl".encode(),
    b"\xff\xfe.jsonl\0\xed\xa0\x80.txt",
    b"a\nb.jsonl\0-o.jsonl\0~.jsonl",
    b"[a].jsonl\0*.jsonl\0?.jsonl\0{a}.jsonl",
    b"\x1b[31m.jsonl\0\xe2\x80\xae.jsonl",
]
# Indices into the names and targets of links; see `make_link_reader`.
LINKS = [bytes([name, target]) for name in range(4) for target in range(3)]
CASES = ["Norrvik\nTarn Bay\nİstanbul\nUN\n".encode(), b""]
CONFIDENCE = [b'{"intercept": 3.1, "weights": {"num_words": -0.5, "jumps": 1, "truncated": 0}}']
METRICS = [b'{"step": 3, "epoch": 0.5, "loss": 4.5}\n{"step": 6, "epoch": 1.0, "dev_loss": 4.0}\n']
LEXICONS = [b"the\t5\t2\nharbour\t3\t1\nopens\t0\t0\n"]


def compressed_files() -> dict[str, list[bytes]]:
    """Return compressed JSONL files by suffix."""
    import pyarrow

    content = JSONL[0]
    buffer = pyarrow.BufferOutputStream()
    with pyarrow.CompressedOutputStream(buffer, "zstd") as stream:
        stream.write(content)
    return {
        ".gz": [gzip.compress(content), gzip.compress(content) * 2],
        ".xz": [lzma.compress(content), lzma.compress(content, lzma.FORMAT_ALONE)],
        ".zst": [buffer.getvalue().to_pybytes()],
    }


def parquet_files() -> list[bytes]:
    """Return small tables with several compressions, and tables with dictionary pages."""
    plain = {
        "text": ["A storm came.", "The harbour opened.", None],
        "headline": ["Storm", "Harbour opens", ""],
        "n": [1, 2, 3],
    }
    nested = {"text": ["a", "b"], "headline": ["c", "d"], "tags": [["x"], None]}
    # Parquet stores repeated values once, in a dictionary: one long value, and many short ones.
    repeated = {"text": ["storm " * 20_000] * 300, "headline": ["Storm"] * 300}
    distinct = {"text": [f"a{i}" for i in range(200)] * 2, "headline": ["b", "c"] * 200}
    return [
        _to_parquet(plain, compression="none"),
        _to_parquet(plain, compression="snappy"),
        _to_parquet(nested, compression="zstd"),
        _to_parquet(repeated, compression="zstd", data_page_size=1024),
        _to_parquet(distinct, compression="zstd", data_page_size=1024),
    ]


def _to_parquet(columns: dict[str, list[Any]], **options: object) -> bytes:
    import pyarrow
    from pyarrow import parquet

    buffer = io.BytesIO()
    parquet.write_table(pyarrow.table(columns), buffer, **options)
    return buffer.getvalue()


def npy_arrays() -> list[bytes]:
    """Return arrays in the format of shards; the first has as many words as `write_corpus`."""
    files = []
    for array in (np.arange(4, dtype=np.int32), np.array([0, 3, 6]), np.zeros(2, np.uint16)):
        buffer = io.BytesIO()
        np.save(buffer, array)
        files.append(buffer.getvalue())
    return files


def run_files() -> list[bytes]:
    """Return short run files, and one with all settings."""
    return [
        b'preset = "tiny"\n[override]\ntrain.epochs = 3\nmodel.encoder.hidden_size = 32\n',
        b'preset = "tiny"\n[override.decode]\nbeam_size = 2\nlength_penalty = 0.5\n',
        run_to_toml(PRESETS["tiny"]).encode(),
    ]


def resolved_runs() -> list[bytes]:
    """Return resolved runs as JSON."""
    return [run_to_json(PRESETS[name]).encode() for name in ("tiny", "read_again_gru_copy_15k")]


def write_corpus(folder: Path) -> bytes:
    """Write a prepared corpus of one pair without its manifest; return the manifest."""
    arrays = {
        "words": np.array([0, 1, 2, 1], np.int32),
        "segments": np.array([0, 3, 4]),
        "pairs": np.array([0, 2]),
        "origins": np.zeros(1, np.uint16),
    }
    CorpusShard(**arrays).save(folder, "train", 0)
    (folder / LEXICON_FILE).write_bytes(LEXICONS[0])
    files = list_files(folder)
    counts = {"pairs": 1, "segments": 2, "words": 4, "shards": 1}
    no_counts = dict.fromkeys(counts, 0)
    manifest = {
        "format_version": 1,
        "package_version": "0.1.0",
        "settings": {"max_sentences": 5},
        "inputs": [],
        "origins": ["pairs.jsonl"],
        "splits": {"train": counts, "dev": no_counts, "test": no_counts},
        "num_words": 3,
        "files": {name: asdict(entry) for name, entry in files.items()},
        "fingerprint": fingerprint(files),
    }
    return json.dumps(manifest, indent=1).encode()


def corpus_manifests() -> list[bytes]:
    """Return the manifest of the corpus of `write_corpus`."""
    with TemporaryDirectory() as folder:
        return [write_corpus(Path(folder))]


def model_files(name: str) -> list[bytes]:
    """Return the file `name` of every model in `tests/assets/models` that has it."""
    return [path.read_bytes() for path in sorted(MODELS.glob(f"*/{name}"))]


def safetensors_files() -> list[bytes]:
    """Return a safetensors file with a float32 tensor and a float16 tensor."""
    numbers = np.arange(6, dtype=np.float32).tobytes()
    header = {
        "__metadata__": {"format": "np"},
        "a": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]},
        "b": {"dtype": "F16", "shape": [4], "data_offsets": [16, 24]},
    }
    encoded = json.dumps(header).encode()
    return [len(encoded).to_bytes(8, "little") + encoded + numbers]


def save_checkpoint(folder: Path) -> Path:
    """Save a checkpoint without tensors; return its folder."""
    from readagain.training import checkpoint
    from readagain.training.state import Scores, TrainingState

    state = TrainingState(step=2, best=Scores(step=1, dev_loss=1.5))
    saved = checkpoint.save_checkpoint(
        folder, state, weights={}, training_tensors={}, best=None, previous=None
    )
    return saved.path


def checkpoint_states() -> list[bytes]:
    """Return the training state in the checkpoint of `save_checkpoint`, as JSON."""
    with TemporaryDirectory() as folder:
        return [(save_checkpoint(Path(folder)) / "progress.json").read_bytes()]

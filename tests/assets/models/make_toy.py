"""Make `toy`, the model folder that the engine's tests load: random weights, real graphs.

It is kept in the repository so that those tests need neither torch nor onnx, and so that a later
version is tested to load what this one wrote. Make a new one beside it when the format changes:

    python tests/assets/models/make_toy.py tests/assets/models/toy
"""

import sys
from dataclasses import asdict
from pathlib import Path

import torch
from safetensors.torch import save_file

from readagain.config.files import save_run
from readagain.config.override import override
from readagain.export.check import check_graphs, random_texts
from readagain.export.write import model_graphs, write_graphs
from readagain.model_dir import (
    PRECISIONS,
    RUN_FILE,
    SOURCE_VOCAB_FILE,
    VOCAB_FILE,
    WEIGHTS_FILE,
    ModelDir,
)
from readagain.networks.build import build_model
from readagain.presets import PRESETS
from readagain.storage.model_manifest import write_model_files
from readagain.text.vocab import SPECIAL_TOKENS, Vocab

WORDS = [
    "the", "a", "of", "in", "to", "and", "for", "on", "said", ",", ".", "``", "''", "-lrb-",
    "-rrb-", "'s", "n't", "#", "##", "###", "####.#", "percent", "million", "police", "minister",
    "river", "bridge", "museum", "storm", "opens", "closes", "wins", "buys", "old", "new",
    "harbour", "ferry", "train", "council", "vote", "talks", "school", "after", "before",
]  # fmt: skip
SHARPNESS = 4.0  # random weights as they begin would give every word about the same probability


def main(folder: Path) -> None:
    """Write the folder, graphs included, and compare them with the network."""
    vocab = Vocab([*SPECIAL_TOKENS, *WORDS])
    source_vocab = Vocab([*SPECIAL_TOKENS, *WORDS, "monday", "village", "yesterday", "crew"])
    run = override(
        PRESETS["read_again_gru_copy_15k"],
        {
            "title": "Toy",
            "vocab_size": len(vocab),
            "source_vocab_size": len(source_vocab),
            "model.embedding_size": 6,
            "model.encoder.hidden_size": 8,
            "model.decoder.hidden_size": 10,
            "model.decoder.attention_size": 4,
            "data.max_source_words": 20,
            "decode.beam_size": 4,
            "decode.max_words": 12,
            "decode.length_penalty": 1.0,
            "decode.no_repeat_ngram": 1,
        },
    )
    torch.manual_seed(7)
    network = build_model(run)
    with torch.no_grad():
        network.output.project.weight *= SHARPNESS / 2
        network.copy_scores.project.weight *= SHARPNESS
        network.output.project.bias -= 1.5  # so that it also copies
    write_model_files(
        folder,
        {
            RUN_FILE: lambda path: save_run(run, path),
            SOURCE_VOCAB_FILE: source_vocab.save,
            VOCAB_FILE: vocab.save,
            WEIGHTS_FILE: lambda path: save_file(network.state_dict(), path),
        },
        replace_all=True,
    )
    model = ModelDir.open(folder)
    graphs = model_graphs(model, PRECISIONS)
    texts = random_texts(model, 50)
    check = check_graphs(model, graphs, texts, origin="random words", threads=1)
    write_graphs(model, graphs, asdict(check))


if __name__ == "__main__":
    main(Path(sys.argv[1]))

"""Train the network of a preset with an encoder of your own, and write a headline with it.

    pip install '.[train]'
    readagain prepare pairs.jsonl --dev-pairs 500 --out data/mine
    python examples/own_encoder.py data/mine "The town of Zyxwick sold its old theatre on Friday."

Attention, copying, the loss and the search are those of the preset. docs/add-an-encoder.md shows
how to make such an encoder part of the package, with settings and ONNX graphs.
"""

import argparse
from pathlib import Path

import torch
from torch import Tensor, nn

from readagain import Summarizer
from readagain.networks.build import build_model
from readagain.networks.encoders import EncoderOutput
from readagain.networks.masks import valid_positions
from readagain.networks.step_model import TorchStepModel
from readagain.training.job import TrainingJob, resolve

BATCH_SIZE = 32


class ConvEncoder(nn.Module):
    """Residual convolution over the words of one sentence.

    Args:
        input_size: width E of a word embedding.
        output_size: width U of a state, and of the vector for the initial decoder state.
        window: number of words that the convolution covers, an odd number.
    """

    def __init__(self, *, input_size: int, output_size: int, window: int = 5) -> None:
        super().__init__()
        self.output_size = self.last_size = output_size
        self.project = nn.Linear(input_size, output_size)
        self.convolve = nn.Conv1d(output_size, output_size, window, padding=window // 2)

    def forward(self, words: Tensor, lengths: Tensor) -> EncoderOutput:
        """Encode (B, 1, L, E) embedded words; `lengths` is (B, 1)."""
        words, lengths = words.squeeze(1), lengths.squeeze(1)
        valid = valid_positions(lengths, words.size(1))  # (B, L)
        states = self.project(words) * valid.unsqueeze(2)  # (B, L, U), zeros at padding
        states = states + torch.tanh(self.convolve(states.mT)).mT
        states = states * valid.unsqueeze(2)
        last = states.sum(dim=1) / lengths.unsqueeze(1).clamp(min=1)  # (B, U)
        return EncoderOutput(states, valid, last)


def main() -> None:
    """Train on a prepared corpus and print a headline."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", type=Path, help="folder written by 'readagain prepare'")
    parser.add_argument("text", help="text to summarize")
    parser.add_argument("--epochs", type=int, default=8, help="passes over the corpus")
    arguments = parser.parse_args()

    job = resolve(TrainingJob(preset="tiny", data=arguments.corpus, out=Path("unused")))
    torch.manual_seed(1)
    network = build_model(job.run)
    network.encoder = ConvEncoder(
        input_size=job.run.model.embedding_size, output_size=network.encoder.output_size
    )
    dataset = job.load_dataset("train", torch.device("cpu"))
    optimizer = torch.optim.Adam(network.parameters(), lr=0.002)
    for epoch in range(arguments.epochs):
        losses = []
        for plan in dataset.plan_epoch(epoch=epoch, batch_size=BATCH_SIZE, seed=1):
            batch = dataset.batch(plan, batch_size=BATCH_SIZE)
            log_probs = network(*batch.inputs())  # (B, T)
            loss = -log_probs[batch.target_valid].mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            losses.append(loss.item())
        print(f"epoch {epoch + 1}: loss {sum(losses) / len(losses):.3f}")

    step_model = TorchStepModel(network.eval())
    summarizer = Summarizer(job.run, job.vocabs.source, job.vocabs.summary, step_model)
    print(summarizer.summarize(arguments.text).text)


if __name__ == "__main__":
    main()

"""Fine-tune a model on rated headlines: those without fault become more probable than the others.

    python examples/train_on_ratings.py rated.jsonl --model news --out runs/rated

Each line of rated.jsonl has a text and several rated headlines, such as the n-best list of the
model (`readagain summarize --n-best 5 --json`):

    {"text": "...", "headlines": [{"text": "...", "good": true}, {"text": "...", "good": false}]}

Instead of "good", the headlines can have a "score", such as that of a reward model.

The loss of two headlines with different ratings is the cross-entropy of sigmoid(beta * (s - t)),
where s and t are the scores of the model: mean log-probability of the words plus
`decode.word_reward` for each word. The target is 1 for a good and a faulty headline (SimPO, Meng et
al. 2024, without a margin), and the sigmoid of the difference of two scores in the file. The mean
log-probability of the best headlines is subtracted with a small weight. Some texts are held out;
the share of their pairs that the model ranks correctly is printed after each epoch.

With several seeds, the model is trained once for each seed, and the new weights are the mean of the
old weights and of all trainings. The mean has fewer faults than a single training
(docs/quality.md).

The new model has no confidence, since the weights have changed; see fit_confidence.py.
"""

import argparse
import json
import math
import random
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor

from readagain import export_model
from readagain.engine.source import SourceReader, SourceText
from readagain.engine.target_prefix import TargetPrefix
from readagain.export.recover import recover_weights
from readagain.model_dir import WEIGHTS_FILE, ModelDir
from readagain.networks.build import build_model
from readagain.networks.network import AnyNetwork
from readagain.storage.bundled import find_model
from readagain.storage.model_manifest import write_model_files
from readagain.text.vocab import BOS, EOS, PAD
from readagain.training.checkpoint import write_tensors
from readagain.training.finetune import TrainedModel

TEXTS_PER_BATCH = 16
WARMUP_STEPS = 10
MAX_NORM = 1.0


@dataclass(frozen=True)
class RatedText:
    """A text with the tokens and the ratings of its headlines."""

    source: SourceText
    headlines: list[TargetPrefix]
    ratings: list[float]
    """Scores; for good and faulty headlines infinity and minus infinity."""

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Pairs of headlines; the first of a pair has the higher rating."""
        numbers = range(len(self.ratings))
        return [(i, j) for i in numbers for j in numbers if self.ratings[i] > self.ratings[j]]


class HeadlineScorer:
    """Scores of headlines by a network."""

    def __init__(self, model_dir: ModelDir, network: AnyNetwork) -> None:
        run = model_dir.run
        self.reader = SourceReader(run, model_dir.source_vocab, model_dir.vocab)
        self.decode = run.decode
        self.network = network

    def read(self, row: dict) -> RatedText:
        """Tokenize a row of the file."""
        headlines = [
            TargetPrefix.read(headline["text"], tokenized=False, language=self.reader.language)
            for headline in row["headlines"]
        ]
        ratings = [
            headline["score"]
            if "score" in headline
            else math.inf
            if headline["good"]
            else -math.inf
            for headline in row["headlines"]
        ]
        return RatedText(self.reader.read(row["text"], tokenized=False), headlines, ratings)

    def scores(self, texts: Sequence[RatedText]) -> tuple[Tensor, Tensor]:
        """Return scores and mean log-probabilities of all headlines of the texts, (R,)."""
        sources = [text.source for text in texts]
        batch = self.reader.batch(sources, style=self.decode.style)
        # The ids of copied words are positions in the padded batch.
        headlines = [
            (n, self.reader.forced_prefix(sources, tokens).ids[n].tolist())
            for n, text in enumerate(texts)
            for tokens in text.headlines
        ]
        rows = torch.tensor([n for n, _ in headlines])
        T = max(len(ids) for _, ids in headlines) + 1
        targets = torch.tensor(
            [[*ids, EOS, *[PAD] * (T - len(ids) - 1)] for _, ids in headlines]
        )  # (R, T)
        lengths = torch.tensor([len(ids) + 1 for _, ids in headlines])  # (R,), EOS included
        # Each source is encoded once, for all of its headlines.
        state = self.network.encode(
            torch.from_numpy(batch.source_ids),
            torch.from_numpy(batch.lengths),
            torch.from_numpy(batch.source_ext_ids),
        ).select(rows)
        outputs = self.network.decode(state, F.pad(targets[:, :-1], (1, 0), value=BOS))
        log_probs = self.network.log_probs(outputs, state.memory, targets, 0.0)  # (R, T)
        is_word = torch.arange(T) < lengths.unsqueeze(1)
        means = log_probs.masked_fill(~is_word, 0.0).sum(1) / lengths
        return means + self.decode.word_reward * (lengths - 1), means


def pairs_of(texts: Sequence[RatedText]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return the pairs of headlines of the same text with different ratings.

    Returns:
        The rows of the better and of the worse headlines, the targets, and weights, (P,). A text
        with P pairs has the weight sqrt(P).
    """
    better, worse, differences, weights = [], [], [], []
    start = 0
    for text in texts:
        for i, j in text.pairs:
            better.append(start + i)
            worse.append(start + j)
            differences.append(text.ratings[i] - text.ratings[j])
            weights.append(len(text.pairs) ** -0.5)
        start += len(text.headlines)
    targets = torch.tensor(differences).sigmoid()
    return torch.tensor(better), torch.tensor(worse), targets, torch.tensor(weights)


def best_of(texts: Sequence[RatedText]) -> Tensor:
    """Return the rows of the headlines with the highest rating of their text."""
    ratings = [[rating == max(text.ratings) for rating in text.ratings] for text in texts]
    return torch.tensor([is_best for text in ratings for is_best in text]).nonzero().squeeze(1)


def batches_of(texts: Sequence[RatedText]) -> list[list[RatedText]]:
    """Return batches of texts of similar length."""
    by_length = sorted(texts, key=lambda text: text.source.max_length)
    return [
        by_length[start : start + TEXTS_PER_BATCH]
        for start in range(0, len(by_length), TEXTS_PER_BATCH)
    ]


@torch.no_grad()
def ranking_accuracy(scorer: HeadlineScorer, texts: Sequence[RatedText]) -> float:
    """Return the share of pairs whose better headline has the higher score."""
    results = []
    for batch in batches_of(texts):
        scores, _ = scorer.scores(batch)
        better, worse, _, _ = pairs_of(batch)
        results.append(scores[better] > scores[worse])
    return float(torch.cat(results).float().mean())


def train(
    scorer: HeadlineScorer,
    texts: Sequence[RatedText],
    held_out: Sequence[RatedText],
    arguments: argparse.Namespace,
) -> None:
    """Change the weights of the network."""
    optimizer = torch.optim.AdamW(
        scorer.network.parameters(), lr=arguments.learning_rate, weight_decay=0.0
    )
    num_steps = arguments.epochs * len(batches_of(texts))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer,
        lambda step: min(1.0, (step + 1) / WARMUP_STEPS) * max(0.05, 1 - step / num_steps),
    )
    print(f"{len(texts)} texts; pairs ranked correctly: {ranking_accuracy(scorer, held_out):.3f}")
    for epoch in range(arguments.epochs):
        batches = batches_of(random.sample(texts, len(texts)))
        random.shuffle(batches)
        for batch in batches:
            scores, means = scorer.scores(batch)
            better, worse, targets, weights = pairs_of(batch)
            logits = arguments.beta * (scores[better] - scores[worse])
            losses = F.binary_cross_entropy_with_logits(logits, targets, reduction="none")
            loss = (weights * losses).sum() / weights.sum()
            loss = loss - arguments.likelihood * means[best_of(batch)].mean()
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(scorer.network.parameters(), MAX_NORM)
            optimizer.step()
            schedule.step()
        print(f"epoch {epoch + 1}: {ranking_accuracy(scorer, held_out):.3f}", flush=True)


def mean_weights(networks: Sequence[Mapping[str, Tensor]]) -> dict[str, Tensor]:
    """Return the mean of the weights of several networks."""
    return {
        name: torch.stack([weights[name] for weights in networks]).mean(0) for name in networks[0]
    }


def main() -> None:
    """Read the ratings, train, and write a model folder with int8 graphs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rated", type=Path, help="JSON lines with 'text' and 'headlines'")
    parser.add_argument("--model", default="news", help="bundled model or model folder")
    parser.add_argument("--out", type=Path, required=True, help="new model folder")
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--learning-rate", type=float, default=6e-4)
    parser.add_argument("--beta", type=float, default=5.0, help="factor of score differences")
    parser.add_argument("--likelihood", type=float, default=0.1, help="weight of the likelihood")
    parser.add_argument("--held-out", type=int, default=150, help="number of texts not trained on")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1], help="one for each training")
    arguments = parser.parse_args()
    run_folder = arguments.out.with_name(arguments.out.name + ".weights")
    for folder in (arguments.out, run_folder):
        if folder.exists():
            parser.error(f"{folder}: exists; choose a new folder")
    trained = TrainedModel.open(find_model(arguments.model), recover_weights)
    network = build_model(trained.model_dir.run)
    network.eval()  # no dropout: few steps on few texts
    scorer = HeadlineScorer(trained.model_dir, network)
    with arguments.rated.open(encoding="utf-8") as file:
        texts = [scorer.read(json.loads(line)) for line in file if line.strip()]
    texts = [text for text in texts if text.pairs]
    random.Random(0).shuffle(texts)
    held_out, texts = texts[: arguments.held_out], texts[arguments.held_out :]
    if not held_out or not texts:
        parser.error(
            f"{arguments.rated}: too few texts with a good and a faulty headline, or different "
            f"scores; expected more than {arguments.held_out}, or use a smaller --held-out"
        )
    old_weights = trained.weights(trained.vocabs)
    trainings = []
    for seed in arguments.seeds:
        random.seed(seed)
        network.load_state_dict(old_weights)
        train(scorer, texts, held_out, arguments)
        trainings.append({name: value.clone() for name, value in network.state_dict().items()})
    weights = trainings[0]
    if len(trainings) > 1:
        weights = mean_weights([old_weights, *trainings])
        network.load_state_dict(weights)
        print(f"mean: {ranking_accuracy(scorer, held_out):.3f}")
    model_path = trained.model_dir.path
    kept = ("run.json", "source_vocab.txt", "vocab.txt", "cases.txt")
    writers: dict[str, Callable[[Path], object]] = {
        name: partial(shutil.copyfile, model_path / name)
        for name in kept
        if (model_path / name).exists()
    }
    writers[WEIGHTS_FILE] = lambda path: write_tensors(path, weights)
    write_model_files(run_folder, writers)
    export_model(run_folder, arguments.out, precision="int8")
    print(f"{arguments.out}: written; the weights are in {run_folder}")


if __name__ == "__main__":
    main()

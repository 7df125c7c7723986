"""Training of the copying Transformer with the optimizer and the rule of the recipe `converged`."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from equal.copy_transformer import CopyTransformer
from equal.corpus import EqualData
from equal.stopping import PlateauRule

from readagain.config.override import override
from readagain.networks.step_model import TorchStepModel
from readagain.training.dataset import BatchPlan, TrainingDataset
from readagain.training.step import TrainingStep

# A Transformer needs a lower rate than an LSTM.
LEARNING_RATE = 5e-4
VALIDATION_BATCH_SIZE = 250
WEIGHTS_FILE, HALF_WEIGHTS_FILE, RESULT_FILE = "model.pt", "weights-half.pt", "result.json"


def train_transformer(
    data: EqualData,
    out: Path,
    *,
    device: torch.device,
    minutes: float,
    batch_size: int,
    validate_every: int,
    use_graphs: bool,
    learning_rate: float = LEARNING_RATE,
) -> None:
    """Train until the rule ends it or the time is over; write the best weights and a record.

    Args:
        data: corpus, vocabularies and settings.
        out: result folder.
        device: device of the training; bfloat16 on a GPU.
        minutes: time limit.
        batch_size: number of pairs in a batch.
        validate_every: updates between validations; 0 for half an epoch.
        use_graphs: whether a GPU replays CUDA graphs.
        learning_rate: rate after the warm-up.
    """
    start = time.monotonic()
    out.mkdir(parents=True, exist_ok=True)
    changes = {"train.batch_size": batch_size, "train.learning_rate": learning_rate}
    spec = override(data.run, changes).train
    train_set, selection_set = (_dataset(data, split, device) for split in ("train", "dev"))
    steps_per_epoch = len(train_set.plan_epoch(epoch=0, batch_size=batch_size, seed=spec.seed))
    validate_every = validate_every or max(1, len(train_set) // (2 * batch_size))
    torch.manual_seed(spec.seed)
    model = CopyTransformer(data.run.source_vocab_size, data.run.vocab_size).to(device)
    step = TrainingStep(
        model, spec, total_steps=spec.epochs * steps_per_epoch, steps_per_epoch=steps_per_epoch
    )
    step.uses_graphs = step.uses_graphs and use_graphs
    rule, log, ended_by = PlateauRule(), [], "epochs"
    for plan in _plans(train_set, spec.epochs, batch_size, spec.seed):
        if time.monotonic() - start >= 60 * minutes:
            ended_by = "time limit"
            break
        step.update(train_set.local_batch(plan, batch_size=batch_size))
        if step.step % validate_every and step.step < step.total_steps:
            continue
        with step.averaged_weights():
            loss = _selection_loss(model, selection_set)
            if rule.update(loss):
                torch.save(model.state_dict(), out / WEIGHTS_FILE)
        minutes_so_far = (time.monotonic() - start) / 60
        entry = {"step": step.step, "loss": loss, "rate": step.learning_rate(step.step)}
        log.append({**entry, "minutes": minutes_so_far})
        print(f"step {step.step}: loss {loss:.4f}, {minutes_so_far:.1f} min", flush=True)
        step.num_plateaus = rule.num_plateaus
        if rule.has_ended:
            ended_by = "patience"
            break
    if not log:  # the time limit came before the first validation
        with step.averaged_weights():
            torch.save(model.state_dict(), out / WEIGHTS_FILE)
    record = {
        "system": "Transformer with copying",
        "parameters": sum(weight.numel() for weight in model.parameters()),
        "bytes": (out / WEIGHTS_FILE).stat().st_size,
        "updates": step.step,
        "epochs": step.step / steps_per_epoch,
        "minutes": (time.monotonic() - start) / 60,
        "ended_by": ended_by,
        "validations": log,
        "torch": torch.__version__,
    }
    (out / RESULT_FILE).write_text(json.dumps(record, indent=1), encoding="utf-8")


def load_transformer(data: EqualData, file: Path | None, device: torch.device) -> TorchStepModel:
    """Return the network of a file as a model for our search; None for random weights."""
    torch.manual_seed(0)
    model = CopyTransformer(data.run.source_vocab_size, data.run.vocab_size)
    if file is not None:
        model.load_state_dict(torch.load(file, weights_only=True, map_location="cpu"))
    return TorchStepModel(model.to(device).eval())


def write_half_precision(data: EqualData, out: Path, num_texts: int) -> None:
    """Write the weights in half precision; source words of other texts get zeros.

    `load_half_precision` reads the file.
    """
    weights = torch.load(out / WEIGHTS_FILE, weights_only=True, map_location="cpu")
    sources = data.dev_sources()[:num_texts]
    words = {word.norm for source in sources for word in source.read_words}
    rows = torch.tensor(sorted({0, 1, 2, 3, *data.vocabs.source.ids(words)}))
    halves = {name: tensor.half() for name, tensor in weights.items()}
    halves["source_embedding.weight"] = halves["source_embedding.weight"][rows]
    torch.save({"rows": rows, "weights": halves}, out / HALF_WEIGHTS_FILE)


def load_half_precision(data: EqualData, file: Path) -> TorchStepModel:
    """Return the network of a file of `write_half_precision`, in float32 on the CPU."""
    saved = torch.load(file, weights_only=True)
    weights = {name: tensor.float() for name, tensor in saved["weights"].items()}
    name = "source_embedding.weight"
    table = torch.zeros(data.run.source_vocab_size, weights[name].size(1))
    table[saved["rows"]] = weights[name]
    model = CopyTransformer(data.run.source_vocab_size, data.run.vocab_size)
    model.load_state_dict({**weights, name: table})
    return TorchStepModel(model.eval())


def _dataset(data: EqualData, split: str, device: torch.device) -> TrainingDataset:
    lexicon = data.corpus.lexicon
    return TrainingDataset(
        data.corpus.split(split),
        source_id_by_lexicon_id=lexicon.vocab_ids(data.vocabs.source),
        summary_id_by_lexicon_id=lexicon.vocab_ids(data.vocabs.summary),
        vocab_size=len(data.vocabs.summary),
        data=data.run.data,
        device=device,
    )


def _plans(
    dataset: TrainingDataset, epochs: int, batch_size: int, seed: int
) -> Iterator[BatchPlan]:
    for epoch in range(epochs):
        yield from dataset.plan_epoch(epoch=epoch, batch_size=batch_size, seed=seed)


@torch.inference_mode()
def _selection_loss(model: Any, dataset: TrainingDataset) -> float:
    """Return the mean negative log-probability of all target words."""
    model.eval()
    total, count = 0.0, 0
    for plan in dataset.plan_unshuffled(batch_size=VALIDATION_BATCH_SIZE):
        batch = dataset.batch(plan, batch_size=VALIDATION_BATCH_SIZE)
        log_probs = model(*batch.inputs())  # (B, T)
        total -= float(log_probs.masked_fill(~batch.target_valid, 0.0).sum(dtype=torch.float64))
        count += int(batch.target_valid.sum())
    return total / count

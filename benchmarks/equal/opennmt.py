"""OpenNMT-py's copying LSTM: training with our stopping rule, beam search, timing.

Run by `benchmarks/equal_data.py` in an environment with OpenNMT-py 3.5.1, so it does not import
readagain. Network, data loading, optimizer, training loop and beam search are those of OpenNMT-py.
Three parts are replaced, since copying has errors in this version:

- The loss: `CopyGenerator` multiplies attention, with the time first, by copy gates, with the batch
  first, so each word would have the gate of another word.
- The sum of generating and copying a word in beam search: after the first text of a batch is
  finished, `collapse_copy_scores` takes the words of other texts, and it does not run on a GPU.
- The words of a result: copied words are looked up with the size of the wrong vocabulary.

The stopping rule is also our own, since OpenNMT-py has no learning rate that falls at plateaus.
"""

import argparse
import json
import random
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import onmt.train_single
import onmt.translate.translator
import pyonmttok
import torch
from onmt import opts
from onmt.bin.train import _get_parser, train
from onmt.constants import CorpusTask, DefaultTokens
from onmt.model_builder import build_base_model
from onmt.translate import GNMTGlobalScorer, Translator
from onmt.utils import Statistics
from onmt.utils.loss import LossCompute
from onmt.utils.parse import ArgumentParser
from stopping import PATIENCE, PlateauRule

WIDTH, DROPOUT = 512, 0.2
# A bidirectional LSTM, as in OpenNMT-py's guide to summarization; the widths are ours.
NETWORK_OPTIONS = [
    *("-encoder_type", "brnn", "-decoder_type", "rnn", "-layers", "1"),
    *("-hidden_size", str(WIDTH), "-word_vec_size", str(WIDTH)),
    *("-global_attention", "mlp", "-copy_attn", "-reuse_copy_attn", "-bridge"),
]
LEARNING_RATE, WARMUP_STEPS, AVERAGE_DECAY, MAX_EPOCHS = 1e-3, 1344, 1e-3, 40
MAX_WORDS = 24
WEIGHTS_FILE, HALF_WEIGHTS_FILE, RESULT_FILE = "model.pt", "weights-half.pt", "result.json"


class CopyLoss(LossCompute):
    """Loss of a network that copies, as `CopyGenerator` and `CopyGeneratorLoss` define it."""

    def forward(
        self,
        batch: dict[str, Any],
        output: torch.Tensor,
        attns: dict[str, torch.Tensor],
        trunc_start: int = 0,
        trunc_size: int | None = None,
    ) -> tuple[torch.Tensor, Statistics]:
        """Return the summed loss of a batch and its statistics.

        Args:
            batch: words and sentence vocabularies.
            output: (B, T, H) decoder states.
            attns: its "copy" has the (T, B, S) attention weights.
            trunc_start: ignored, since the whole target is used.
            trunc_size: ignored too.
        """
        attention = attns["copy"].transpose(0, 1)  # (B, T, S)
        B, T, _ = attention.shape
        states = output[:, :T]  # (B, T, H)
        logits = self.generator.linear(states).float()  # (B, T, V)
        logits[:, :, self.padding_idx] = -torch.inf
        copy_gate = torch.sigmoid(self.generator.linear_copy(states))  # (B, T, 1)
        copied = (attention * copy_gate) @ batch["src_map"]  # (B, T, C)
        scores = torch.cat([logits.softmax(-1) * (1 - copy_gate), copied], dim=-1)
        targets = batch["tgt"][:, 1 : T + 1, 0].reshape(-1)
        alignment = batch["alignment"][:, 1 : T + 1].reshape(-1)
        loss = self.criterion(scores.flatten(0, 1), alignment, targets).sum()
        num_words = int(targets.ne(self.padding_idx).sum())
        return loss, Statistics(loss.item(), n_batchs=1, n_sents=B, n_words=num_words)


class Validations:
    """Replacement of OpenNMT-py's early stopping: our rule, the best weights and a log."""

    def __init__(self, trainer: Any, vocabs: dict[str, Any], out: Path) -> None:
        self.trainer, self.vocabs, self.out = trainer, vocabs, out
        self.rule = PlateauRule()
        self.log: list[dict[str, float]] = []
        self.start = time.monotonic()
        # OpenNMT-py multiplies the learning rate by this function of the update.
        trainer.optim._learning_rate_decay_fn = self._rate_factor

    def _rate_factor(self, step: int) -> float:
        return min(1.0, step / WARMUP_STEPS) * self.rule.rate_factor

    @property
    def current_tolerance(self) -> int:
        """Number of validations without improvement that remain, for OpenNMT-py's log."""
        return PATIENCE - self.rule.num_worse

    def __call__(self, statistics: Statistics, step: int) -> None:
        """Record a validation, and save the averaged weights if they are the best so far."""
        loss = statistics.xent()
        minutes = (time.monotonic() - self.start) / 60
        entry = {"step": step, "loss": loss, "rate": self.trainer.optim.learning_rate()}
        self.log.append({**entry, "minutes": minutes})
        print(f"step {step}: loss {loss:.4f}, {minutes:.1f} min", flush=True)
        if self.rule.update(loss):
            self.save()

    def has_stopped(self) -> bool:
        """Return whether the training ends."""
        return self.rule.has_ended

    def save(self) -> None:
        """Write the averaged weights, if there are any, and the vocabularies."""
        state = dict(self.trainer.model.state_dict())
        names = [name for name, _ in self.trainer.model.named_parameters()]
        if self.trainer.moving_average is not None:
            state.update(zip(names, self.trainer.moving_average, strict=True))
        state = {name: tensor.detach().cpu() for name, tensor in state.items()}
        words = {side: list(self.vocabs[side].ids_to_tokens) for side in ("src", "tgt")}
        torch.save({"model": state, "words": words}, self.out / WEIGHTS_FILE)


def train_network(arguments: argparse.Namespace) -> None:
    """Train on the files of `equal_data.py text`, and write weights and a record."""
    text, out = arguments.text, arguments.out
    out.mkdir(parents=True, exist_ok=True)
    with (text / "train.source").open(encoding="utf-8") as file:
        num_pairs = sum(1 for _ in file)
    steps_per_epoch = max(1, num_pairs // arguments.batch)
    files = {
        name: {
            "path_src": str(text / f"{split}.source"),
            "path_tgt": str(text / f"{split}.summary"),
        }
        for name, split in (("news", "train"), ("valid", "selection"))
    }
    config = out / "config.yaml"
    config.write_text(json.dumps({"data": files}), encoding="utf-8")  # JSON is also YAML
    options = [
        *NETWORK_OPTIONS,
        *("-config", str(config), "-save_model", str(out / "unused")),
        *("-src_vocab", str(text / "source.vocab"), "-tgt_vocab", str(text / "summary.vocab")),
        *("-vocab_size_multiple", "1", "-src_vocab_size", "1000000", "-tgt_vocab_size", "1000000"),
        *("-batch_type", "sents", "-batch_size", str(arguments.batch)),
        *("-valid_batch_size", "64", "-normalization", "tokens", "-dropout", str(DROPOUT)),
        *("-optim", "adam", "-adam_beta2", "0.98", "-learning_rate", str(LEARNING_RATE)),
        *("-max_grad_norm", "1", "-average_decay", str(AVERAGE_DECAY)),
        *("-train_steps", str(MAX_EPOCHS * steps_per_epoch)),
        *("-valid_steps", str(arguments.validate_every or max(1, steps_per_epoch // 2))),
        *("-save_checkpoint_steps", "0", "-early_stopping", "1", "-report_every", "100"),
        # Each prefetched batch holds several open files in shared memory.
        *("-bucket_size", "32768", "-prefetch_factor", "20"),
        *("-num_workers", str(arguments.workers), "-seed", "1"),
        *(("-world_size", "1", "-gpu_ranks", "0") if arguments.device == "cuda" else ()),
    ]
    torch.set_float32_matmul_precision("high")
    deadline = time.monotonic() + 60 * arguments.minutes
    trainers: list[Any] = []
    _replace_trainer(trainers, out, deadline)
    _load_validation_data_once()
    parsed, _ = _get_parser().parse_known_args(options)
    start = time.monotonic()
    train(parsed)
    [trainer] = trainers
    validations = trainer.earlystopper
    if not validations.log:  # the time limit came before the first validation
        validations.save()
    num_steps = trainer.optim.training_step - 1
    ended_by = "time limit" if time.monotonic() >= deadline else "epochs"
    record = {
        "system": f"OpenNMT-py {onmt.__version__}, copying LSTM",
        "parameters": sum(weight.numel() for weight in trainer.model.parameters()),
        "bytes": (out / WEIGHTS_FILE).stat().st_size,
        "updates": num_steps,
        "epochs": num_steps / steps_per_epoch,
        "minutes": (time.monotonic() - start) / 60,
        "ended_by": "patience" if validations.has_stopped() else ended_by,
        "validations": validations.log,
        "torch": torch.__version__,
    }
    (out / RESULT_FILE).write_text(json.dumps(record, indent=1), encoding="utf-8")


def _replace_trainer(trainers: list[Any], out: Path, deadline: float) -> None:
    """Let OpenNMT-py build its trainer with our loss, stopping rule and time limit."""
    build_trainer = onmt.train_single.build_trainer

    def build(opt: Any, device_id: int, model: Any, vocabs: Any, *args: Any, **kwargs: Any) -> Any:
        trainer = build_trainer(opt, device_id, model, vocabs, *args, **kwargs)
        trainer.train_loss = CopyLoss.from_opts(opt, model, vocabs["tgt"])
        trainer.valid_loss = CopyLoss.from_opts(opt, model, vocabs["tgt"], train=False)
        trainer.earlystopper = Validations(trainer, vocabs, out)
        trainer.model_saver = None  # `Validations` saves the best weights
        accumulate = trainer._accum_batches

        def batches(iterator: Iterable[Any]) -> Iterator[Any]:
            for batch in accumulate(iterator):
                if time.monotonic() >= deadline:
                    return
                yield batch

        trainer._accum_batches = batches
        trainers.append(trainer)
        return trainer

    onmt.train_single.build_trainer = build


def _load_validation_data_once() -> None:
    """Load the validation data in this process; OpenNMT-py would start new workers each time."""
    build_iterator = onmt.train_single.build_dynamic_dataset_iter

    def build(opt: Any, *args: Any, **kwargs: Any) -> Any:
        if kwargs.get("task") != CorpusTask.VALID:
            return build_iterator(opt, *args, **kwargs)
        num_workers, opt.num_workers = opt.num_workers, 0
        batches = list(build_iterator(opt, *args, **kwargs))
        opt.num_workers = num_workers
        return batches

    onmt.train_single.build_dynamic_dataset_iter = build


class CopyTranslator(Translator):
    """Beam search that keeps the source words of unfinished texts."""

    def _decode_and_generate(
        self, decoder_in: Any, enc_out: Any, batch: Any, *args: Any, **kwargs: Any
    ) -> Any:
        offset = kwargs.get("batch_offset")
        if offset is not None:
            batch = {**batch, "known_ids": batch["known_ids"][offset]}
        return super()._decode_and_generate(decoder_in, enc_out, batch, *args, **kwargs)


def add_copies(scores: torch.Tensor, batch: Any, vocab: Any, batch_dim: int = 0) -> torch.Tensor:
    """Add the probability of copying a known word to that of generating it, in place.

    Args:
        scores: (B, K, V + C) probabilities.
        batch: its "known_ids" has the (B, C) ids of the source words, UNK for unknown words.
        vocab: the V known words.
        batch_dim: always 0.
    """
    ids = batch["known_ids"].unsqueeze(1).expand(-1, scores.size(1), -1)  # (B, K, C)
    is_known = ids != vocab.default_id
    generated, copied = scores[:, :, : len(vocab)], scores[:, :, len(vocab) :]
    generated.scatter_add_(2, ids, copied * is_known)
    copied.masked_fill_(is_known, 1e-10)
    return scores


onmt.translate.translator.collapse_copy_scores = add_copies


def load_translator(
    file: Path | None, *, device: str, beam_size: int, num_words: int | None, words: dict[str, Any]
) -> tuple[CopyTranslator, dict[str, Any]]:
    """Return the search and the vocabularies of the network in a file.

    Args:
        file: weights; None for random weights.
        device: `cpu` or `cuda`.
        beam_size: beam size.
        num_words: fixed number of words; None for up to `MAX_WORDS`.
        words: words by side, if `file` is None.
    """
    saved = {"words": words} if file is None else torch.load(file, weights_only=True)
    vocabs: dict[str, Any] = {"decoder_start_token": DefaultTokens.BOS, "data_task": "seq2seq"}
    for side, side_words in saved["words"].items():
        vocabs[side] = pyonmttok.build_vocab_from_tokens(side_words)
        vocabs[side].default_id = vocabs[side][DefaultTokens.UNK]
    parser = ArgumentParser()
    opts.train_opts(parser)
    required = ("-data", "none", "-src_vocab", "none")  # not used
    options, _ = parser.parse_known_args([*NETWORK_OPTIONS, *required])
    ArgumentParser.update_model_opts(options)
    torch.manual_seed(0)
    model = build_base_model(options, vocabs)
    if file is not None:
        # OpenNMT-py replaces `load_state_dict` of its networks.
        weights = {name: tensor.float() for name, tensor in saved["model"].items()}
        torch.nn.Module.load_state_dict(model, weights)
    translator = CopyTranslator(
        model.to(device).eval(),
        vocabs,
        gpu=0 if device == "cuda" else -1,
        beam_size=beam_size,
        min_length=1 if num_words is None else num_words,
        max_length=MAX_WORDS if num_words is None else num_words,
        max_length_ratio=0,  # otherwise a limit depends on the longest text of the batch
        ban_unk_token=True,
        copy_attn=True,
        global_scorer=GNMTGlobalScorer(0, 0, "none", "none"),
        report_score=False,
    )
    return translator, vocabs


def summarize(
    translator: CopyTranslator,
    vocabs: dict[str, Any],
    sources: Sequence[Sequence[str]],
    device: str,
) -> list[list[str]]:
    """Return the words of the best summary of each source, a list of words."""
    # OpenNMT-py packs sequences, which must be sorted by decreasing length.
    order = sorted(range(len(sources)), key=lambda index: -len(sources[index]))
    ordered = [sources[index] for index in order]
    special = [DefaultTokens.UNK, DefaultTokens.PAD, DefaultTokens.BOS, DefaultTokens.EOS]
    sentence_vocabs = []
    for words in ordered:
        vocab = pyonmttok.build_vocab_from_tokens(dict.fromkeys(words), special_tokens=special)
        vocab.default_id = vocab[DefaultTokens.UNK]
        sentence_vocabs.append(vocab)
    B, S = len(ordered), len(ordered[0])
    ids = torch.full((B, S), vocabs["src"][DefaultTokens.PAD])
    num_columns = max(map(len, sentence_vocabs))
    source_map = torch.zeros(B, S, num_columns)
    known_ids = torch.full((B, num_columns), vocabs["tgt"].default_id)
    for row, (words, vocab) in enumerate(zip(ordered, sentence_vocabs, strict=True)):
        ids[row, : len(words)] = torch.tensor([vocabs["src"][word] for word in words])
        columns = torch.tensor([vocab[word] for word in words])
        source_map[row, torch.arange(len(words)), columns] = 1
        known = [vocabs["tgt"][word] for word in vocab.ids_to_tokens]
        known_ids[row, : len(known)] = torch.tensor(known)
    batch = {
        "src": ids[:, :, None].to(device),
        "srclen": torch.tensor([len(words) for words in ordered], device=device),
        "src_map": source_map.to(device),
        "known_ids": known_ids.to(device),
    }
    with torch.inference_mode():
        results = translator.translate_batch(batch, attn_debug=False)
    words_by_id = vocabs["tgt"].ids_to_tokens
    summaries: list[list[str]] = [[] for _ in sources]
    for row, n_best in enumerate(results["predictions"]):
        copied = sentence_vocabs[row].ids_to_tokens
        tokens = [
            words_by_id[id] if id < len(words_by_id) else copied[id - len(words_by_id)]
            for id in n_best[0].tolist()
        ]
        if tokens and tokens[-1] == DefaultTokens.EOS:
            tokens.pop()
        summaries[order[row]] = tokens
    return summaries


def read_sources(file: Path) -> list[list[str]]:
    """Return the words of each line of a file."""
    return [line.split() for line in file.read_text(encoding="utf-8").split("\n")[:-1]]


def translate_dev(arguments: argparse.Namespace) -> None:
    """Write the summary of each line of `dev.source` to `summaries.tokens`."""
    translator, vocabs = load_translator(
        arguments.out / WEIGHTS_FILE,
        device=arguments.device,
        beam_size=arguments.beam,
        num_words=None,
        words={},
    )
    sources = read_sources(arguments.text / "dev.source")
    order = sorted((i for i in range(len(sources)) if sources[i]), key=lambda i: len(sources[i]))
    summaries: list[list[str]] = [[] for _ in sources]
    for start in range(0, len(order), 64):
        rows = order[start : start + 64]
        results = summarize(translator, vocabs, [sources[i] for i in rows], arguments.device)
        for index, words in zip(rows, results, strict=True):
            summaries[index] = words
    lines = "".join(" ".join(words) + "\n" for words in summaries)
    (arguments.out / "summaries.tokens").write_text(lines, encoding="utf-8")
    _save_half(arguments, sources[: arguments.texts])


def _save_half(arguments: argparse.Namespace, sources: Sequence[Sequence[str]]) -> None:
    """Write the weights in half precision, with the source words of some texts only."""
    saved = torch.load(arguments.out / WEIGHTS_FILE, weights_only=True)
    used = {word for words in sources for word in words}
    words = saved["words"]["src"]
    rows = [row for row, word in enumerate(words) if row < 4 or word in used]
    saved["words"]["src"] = [words[row] for row in rows]
    for name, tensor in saved["model"].items():
        if tensor.dim() == 2 and tensor.size(0) == len(words) and name.startswith("encoder"):
            saved["model"][name] = tensor[rows]
    saved["model"] = {name: tensor.half() for name, tensor in saved["model"].items()}
    torch.save(saved, arguments.out / HALF_WEIGHTS_FILE)


def time_search(arguments: argparse.Namespace) -> None:
    """Print the seconds per text by batch size, as JSON, on a CPU.

    Summaries have a fixed number of words.
    """
    torch.set_num_threads(arguments.threads)
    sources = [words for words in read_sources(arguments.text / "dev.source") if words]
    sources = sources[: arguments.texts]
    file = arguments.out / HALF_WEIGHTS_FILE
    words = {
        side: (arguments.text / f"{name}.vocab").read_text(encoding="utf-8").split("\n")[:-1]
        for side, name in (("src", "source"), ("tgt", "summary"))
    }
    translator, vocabs = load_translator(
        file if file.exists() else None,
        device="cpu",
        beam_size=arguments.beam,
        num_words=arguments.words,
        words=words,
    )
    seconds = {}
    by_length = sorted(sources, key=len)
    for size in arguments.together:
        summarize(translator, vocabs, sources[:size], "cpu")  # warm-up
        ordered = sources if size == 1 else by_length
        start = time.perf_counter()
        for first in range(0, len(ordered), size):
            summarize(translator, vocabs, ordered[first : first + size], "cpu")
        seconds[size] = (time.perf_counter() - start) / len(ordered)
    print(json.dumps(seconds))


def main() -> None:
    """Run one step."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("step", choices=("train", "translate", "time"))
    parser.add_argument("--text", type=Path, required=True, help="files of `equal_data.py text`")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--minutes", type=float, default=1e6, help="time limit of training")
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--validate-every", type=int, default=0, help="updates; 0: half an epoch")
    parser.add_argument("--workers", type=int, default=4, help="processes that load data")
    parser.add_argument("--beam", type=int, default=10)
    parser.add_argument("--texts", type=int, default=300, help="texts to time")
    parser.add_argument("--words", type=int, default=8, help="words of a timed summary")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--together", type=int, nargs="+", default=[1, 16, 32])
    arguments = parser.parse_args()
    random.seed(0)
    {"train": train_network, "translate": translate_dev, "time": time_search}[arguments.step](
        arguments
    )


if __name__ == "__main__":
    main()

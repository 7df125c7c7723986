"""Training runs: finishing, resuming exactly, and stopping."""

import json
from dataclasses import replace

import pytest
import torch

from readagain.errors import ArtifactError, DataError, ReadAgainError
from readagain.model_dir import ModelDir
from readagain.storage.tensors import read_tensors
from readagain.training import checkpoint, run_writer
from readagain.training.run_writer import RunWriter
from readagain.training.step import TrainingStep
from readagain.training.stop_signal import StopSignal
from readagain.training.validate import Validator


def read_log(folder):
    """Return the log without the fields that depend on time."""
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return [
        {name: value for name, value in line.items() if name not in ("minutes", "pairs_per_s")}
        for line in lines
    ]


def read_dev_losses(folder):
    """Return dev losses by step."""
    return {line["step"]: line["dev_loss"] for line in read_log(folder) if "dev_loss" in line}


def read_weights(folder):
    """Return the bytes of each weight by name."""
    tensors = read_tensors(ModelDir.open(folder).path / "weights.safetensors")
    return {name: array.tobytes() for name, array in tensors.items()}


class Killed(BaseException):
    """Raised in place of a kill."""


class Clock:
    """Replacement for the module `time`; tests advance it."""

    seconds = 0.0

    def monotonic(self):
        return self.seconds


def test_train_writes_model_and_log(make_job, run_job):
    job = make_job()
    result, output = run_job(job)
    assert result.is_finished
    model = ModelDir.open(job.out, checksums=True)
    assert model.scores["dev"]["step"] == result.state.best.step
    assert model.provenance["is_finished"]
    assert "dev loss" in output
    assert "  model  " in output  # a sample headline
    steps = [line["step"] for line in read_log(job.out) if "loss" in line]
    assert steps == [3, 6, 9, 12, 14]  # every three updates, and at the end


def test_train_skips_finished_run(make_job, run_job):
    job = make_job()
    run_job(job)
    before = (job.out / "metrics.jsonl").read_bytes()
    result, _ = run_job(job)
    assert result is None
    assert (job.out / "metrics.jsonl").read_bytes() == before


def test_more_epochs_continue_finished_run_bit_by_bit(make_job, run_job):
    constant = "train.schedule=constant"
    three_epochs = make_job(constant, "train.epochs=3", out="three")
    run_job(three_epochs)
    run_job(make_job(constant, out="two, then three"))
    continued = make_job(constant, "train.epochs=3", out="two, then three")
    result, output = run_job(continued)
    assert result.is_finished
    assert "resuming from step 14" in output
    assert read_dev_losses(continued.out) == read_dev_losses(three_epochs.out)
    assert read_weights(continued.out) == read_weights(three_epochs.out)
    assert run_job(continued)[0] is None


HALVING = ("schedule=halving", "halving_from_epoch=0", "halving_every=2", "epochs=3")


@pytest.mark.parametrize("changes", [("averaging=ema",), ("averaging=none",), HALVING])
def test_stopped_run_resumes_bit_by_bit(make_job, run_job, stop_after, changes):
    settings = [f"train.{change}" for change in (*changes, "validate_every=4")]
    uninterrupted = make_job(*settings, out="uninterrupted")
    run_job(uninterrupted)
    interrupted = make_job(*settings, out="interrupted")
    stop_after(5)
    result, _ = run_job(interrupted)
    assert result.state.step == 5
    assert not result.is_finished
    result, output = run_job(interrupted)
    assert result.is_finished
    assert "resuming from step 5" in output
    assert read_log(interrupted.out) == read_log(uninterrupted.out)
    assert read_weights(interrupted.out) == read_weights(uninterrupted.out)


def test_killed_run_resumes_from_checkpoint(make_job, run_job, monkeypatch):
    uninterrupted, interrupted = make_job(out="uninterrupted"), make_job(out="interrupted")
    run_job(uninterrupted)

    original_update = TrainingStep.update

    def update_or_die(self, batch):
        if self.step == 9:
            raise Killed
        return original_update(self, batch)

    with monkeypatch.context() as patch:
        patch.setattr(TrainingStep, "update", update_or_die)
        with pytest.raises(Killed):
            run_job(interrupted)
    assert len(read_log(interrupted.out)) > 0
    run_job(interrupted)
    assert read_log(interrupted.out) == read_log(uninterrupted.out)
    assert read_weights(interrupted.out) == read_weights(uninterrupted.out)


def test_run_killed_while_publishing_publishes_on_resume(
    make_job, run_job, stop_after, monkeypatch
):
    def die(*arguments, **options):
        raise Killed

    job = make_job("train.validate_every=4")
    with monkeypatch.context() as patch:
        patch.setattr(run_writer, "publish_model", die)
        with pytest.raises(Killed):
            run_job(job)
    stop_after(5)
    assert not run_job(job)[0].is_finished
    assert ModelDir.open(job.out, checksums=True).scores["dev"]["step"] == 4


def test_pairs_per_second_exclude_validation(make_job, run_job, monkeypatch):
    clock, update, validate = Clock(), TrainingStep.update, Validator.validate

    def update_in_a_second(self, batch):
        clock.seconds += 1
        return update(self, batch)

    def validate_in_hundred_seconds(self, model, *, step, stop):
        clock.seconds += 100
        return validate(self, model, step=step, stop=stop)

    monkeypatch.setattr(run_writer, "time", clock)
    monkeypatch.setattr(TrainingStep, "update", update_in_a_second)
    monkeypatch.setattr(Validator, "validate", validate_in_hundred_seconds)
    job = make_job("train.validate_every=2", "train.log_every=3", "train.epochs=1")
    run_job(job)
    lines = [json.loads(line) for line in (job.out / "metrics.jsonl").read_text().splitlines()]
    rates = [line["pairs_per_s"] for line in lines if "loss" in line]
    assert all(3 < rate <= 16 for rate in rates)  # at most one batch of 16 pairs per second


def test_time_is_estimated_once_without_first_update(make_job, run_job, monkeypatch):
    clock, update = Clock(), TrainingStep.update

    def timed_update(self, batch):
        clock.seconds += 10 if self.step == 0 else 2
        return update(self, batch)

    monkeypatch.setattr(run_writer, "time", clock)
    monkeypatch.setattr(TrainingStep, "update", timed_update)
    _, output = run_job(make_job())
    assert output.count("per update") == 1
    # Three updates after the first take 6 s; 10 of 14 are left.
    assert "2 s per update; about 0:00:20 left, without the validations" in output


def test_losses_are_logged_before_the_next_update(make_job, run_job, monkeypatch):
    separate, shared = make_job(out="separate"), make_job(out="shared")
    run_job(separate)
    update, memory = TrainingStep.update, torch.zeros(())
    # As on a GPU, all updates write their loss to the same memory.
    monkeypatch.setattr(TrainingStep, "update", lambda *args: memory.copy_(update(*args)))
    run_job(shared)
    assert read_log(shared.out) == read_log(separate.out)


def test_stop_during_validation_validates_on_resume(make_job, run_job, stop_after):
    uninterrupted, interrupted = make_job(out="uninterrupted"), make_job(out="interrupted")
    total = run_job(uninterrupted)[0].total_steps
    stop_after(total)
    result, _ = run_job(interrupted)
    assert result.state.step == total
    assert not result.is_finished
    result, _ = run_job(interrupted)
    assert result.is_finished
    assert read_log(interrupted.out) == read_log(uninterrupted.out)


def test_stop_after_validation_saves_once(make_job, run_job, monkeypatch):
    saved_steps = []
    save, publish = RunWriter.save, RunWriter.publish
    signal = StopSignal()

    def record_step(self, state, **options):
        saved_steps.append(state.step)
        return save(self, state, **options)

    def stop_while_publishing(self, state, **options):
        publish(self, state, **options)
        signal.is_set = True

    monkeypatch.setattr(RunWriter, "save", record_step)
    monkeypatch.setattr(RunWriter, "publish", stop_while_publishing)
    result, _ = run_job(make_job("train.validate_every=4"), stop=signal)
    assert result.state.step == 4
    assert saved_steps == [4]


def test_non_finite_loss_stops_the_run(make_job, run_job, monkeypatch):
    job = make_job("train.validate_every=4")
    update = TrainingStep.update

    def update_with_nan(self, batch):
        loss = update(self, batch)
        return loss * torch.nan if self.step == 8 else loss

    monkeypatch.setattr(TrainingStep, "update", update_with_nan)
    with pytest.raises(
        ReadAgainError, match=r"diverged at step 8: the loss became nan; the state of step 4 and"
    ):
        run_job(job)
    ModelDir.open(job.out, checksums=True)


def test_non_finite_weights_are_not_saved(make_job, run_job, monkeypatch):
    job = make_job("train.validate_every=4")
    update = TrainingStep.update

    def update_with_inf(self, batch):
        loss = update(self, batch)
        if self.step == 4:
            self.parameters[0].data[0, 0] = torch.inf
        return loss

    monkeypatch.setattr(TrainingStep, "update", update_with_inf)
    with pytest.raises(
        ReadAgainError, match="step 4: a weight is not finite; nothing had been saved"
    ):
        run_job(job)


def test_full_disk_keeps_checkpoint(make_job, run_job, monkeypatch):
    uninterrupted, interrupted = make_job(out="uninterrupted"), make_job(out="interrupted")
    run_job(uninterrupted)
    write_tensors, paths = checkpoint.write_tensors, []

    def fill_disk(path, tensors):
        paths.append(path)
        if len(paths) == 5:  # while the second checkpoint is written
            raise OSError(28, "No space left on device")
        write_tensors(path, tensors)

    with monkeypatch.context() as patch:
        patch.setattr(checkpoint, "write_tensors", fill_disk)
        with pytest.raises(
            ArtifactError, match=r"step \d+: cannot be saved: No space left on device; step \d+ is"
        ):
            run_job(interrupted)
    run_job(interrupted)
    assert read_log(interrupted.out) == read_log(uninterrupted.out)
    assert read_weights(interrupted.out) == read_weights(uninterrupted.out)


def test_checkpoints_are_saved_between_validations(make_job, run_job, monkeypatch):
    saved_steps, save_checkpoint = [], run_writer.save_checkpoint

    def record_step(directory, state, **tensors):
        saved_steps.append(state.step)
        return save_checkpoint(directory, state, **tensors)

    monkeypatch.setattr(run_writer, "SAVE_SECONDS", 0.0)
    monkeypatch.setattr(run_writer, "save_checkpoint", record_step)
    result, _ = run_job(make_job("train.epochs=1"))
    assert set(range(1, result.total_steps + 1)) <= set(saved_steps)


def test_early_stopping_keeps_best_weights(make_job, run_job, monkeypatch):
    job = make_job("train.validate_every=1", "train.patience=2")
    validate = Validator.validate

    def validate_with_rising_loss(self, model, *, step, stop):
        validation = validate(self, model, step=step, stop=stop)
        return replace(validation, scores=replace(validation.scores, dev_loss=float(step)))

    monkeypatch.setattr(Validator, "validate", validate_with_rising_loss)
    result, _ = run_job(job)
    assert result.state.step == 3
    assert result.state.has_stopped_early
    assert ModelDir.open(job.out).scores["dev"]["step"] == 1
    # More epochs continue the run, and patience starts again.
    longer_job = replace(job, changes=(*job.changes, "train.epochs=3"))
    result, _ = run_job(longer_job)
    assert result.state.step == 5


def test_run_without_dev_split_keeps_last_weights(make_job, run_job, corpus_without_dev):
    job = make_job(data=corpus_without_dev.folder)
    result, output = run_job(job)
    assert result.is_finished
    assert "no dev pairs: no validation, the last weights are kept" in output
    model = ModelDir.open(job.out, checksums=True)
    assert model.scores == {}
    assert model.provenance["step"] == result.total_steps


def test_patience_needs_a_dev_split(make_job, run_job, corpus_without_dev):
    job = make_job("train.patience=3", data=corpus_without_dev.folder)
    with pytest.raises(DataError, match="no dev pairs, which train.patience"):
        run_job(job)


def test_averaged_weights_are_kept_and_change_no_update(make_job, run_job):
    settings = ("train.validate_every=3", "model.dropout=0.0")
    plain = make_job(*settings, "train.averaging=none", out="plain")
    averaged = make_job(*settings, "train.averaging=ema", out="averaged")
    for job in (plain, averaged):
        run_job(job)
    losses = [[line.get("loss") for line in read_log(job.out)] for job in (plain, averaged)]
    assert losses[0] == losses[1]
    assert read_weights(plain.out) != read_weights(averaged.out)


def test_paper_recipe_trains(make_job, run_job):
    result, _ = run_job(make_job("train=paper"))
    assert result.is_finished


@pytest.mark.parametrize(
    "preset", ["gru_15k", "read_again_gru_copy_15k", "two_sentences_option2_copy_15k"]
)
def test_every_network_trains(make_job, run_job, preset):
    job = make_job("train=modern", "train.batch_size=16", "train.epochs=1", preset=preset)
    result, _ = run_job(job)
    assert result.is_finished
    assert ModelDir.open(job.out, checksums=True).run.title.endswith("15k")


def test_training_lowers_the_loss(make_job, run_job):
    job = make_job("train.epochs=6", "model.dropout=0.0")
    run_job(job)
    losses = [line["loss"] for line in read_log(job.out) if "loss" in line]
    assert losses[-1] < 0.7 * losses[0]

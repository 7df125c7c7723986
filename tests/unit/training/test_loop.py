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


def losses(folder):
    """Return dev losses by step."""
    return {line["step"]: line["dev_loss"] for line in read_log(folder) if "dev_loss" in line}


def weights(folder):
    return {name: array.tobytes() for name, array in read_tensors(
        ModelDir.open(folder).path / "weights.safetensors").items()}  # fmt: skip


def test_train_writes_model_and_log(make_job, run_job):
    job = make_job()
    result, output = run_job(job)
    assert result.is_finished
    model = ModelDir.open(job.out, checksums=True)
    assert model.scores["dev"]["step"] == result.state.best.step
    assert model.provenance["is_finished"]
    assert "dev loss" in output
    assert "model " in output
    steps = [line["step"] for line in read_log(job.out) if "loss" in line]
    assert steps == [*range(3, result.total_steps + 1, 3)] or steps[-1] == result.total_steps


def test_train_skips_finished_run(make_job, run_job):
    job = make_job()
    run_job(job)
    before = (job.out / "metrics.jsonl").read_bytes()
    result, _ = run_job(job)
    assert result is None
    assert (job.out / "metrics.jsonl").read_bytes() == before


def test_more_epochs_continue_finished_run_bit_by_bit(make_job, run_job):
    constant = "train.schedule=constant"
    whole, parts = make_job(constant, out="whole"), make_job(constant, out="parts")
    longer = "train.epochs=3"
    run_job(replace(whole, changes=(*whole.changes, longer)))
    run_job(parts)
    more = replace(parts, changes=(*parts.changes, longer))
    result, output = run_job(more)
    assert result.is_finished
    assert "resuming from step 14" in output
    assert losses(parts.out) == losses(whole.out)
    assert weights(parts.out) == weights(whole.out)
    assert run_job(more)[0] is None


@pytest.mark.parametrize("averaging", ["ema", "none"])
def test_stopped_run_resumes_bit_by_bit(make_job, run_job, stop_after, averaging):
    settings = (f"train.averaging={averaging}", "train.validate_every=4")
    whole = make_job(*settings, out="whole")
    run_job(whole)
    parts = make_job(*settings, out="parts")
    stop_after(5)
    result, _ = run_job(parts)
    assert result.state.step == 5
    assert not result.is_finished
    result, output = run_job(parts)
    assert result.is_finished
    assert "resuming from step 5" in output
    assert read_log(parts.out) == read_log(whole.out)
    assert weights(parts.out) == weights(whole.out)


def test_killed_run_resumes_from_checkpoint(make_job, run_job, monkeypatch):
    whole, parts = make_job(out="whole"), make_job(out="parts")
    run_job(whole)

    class Killed(BaseException):
        pass

    update = TrainingStep.update

    def killed(self, batch):
        if self.step == 9:
            raise Killed
        return update(self, batch)

    with monkeypatch.context() as patch:
        patch.setattr(TrainingStep, "update", killed)
        with pytest.raises(Killed):
            run_job(parts)
    assert len(read_log(parts.out)) > 0
    run_job(parts)
    assert read_log(parts.out) == read_log(whole.out)
    assert weights(parts.out) == weights(whole.out)


def test_run_killed_while_publishing_publishes_on_resume(
    make_job, run_job, stop_after, monkeypatch
):
    class Killed(BaseException):
        pass

    def killed(*arguments, **options):
        raise Killed

    job = make_job("train.validate_every=4")
    with monkeypatch.context() as patch:
        patch.setattr(run_writer, "publish_model", killed)
        with pytest.raises(Killed):
            run_job(job)
    stop_after(5)
    assert not run_job(job)[0].is_finished
    assert ModelDir.open(job.out, checksums=True).scores["dev"]["step"] == 4


def test_pairs_per_second_exclude_validation(make_job, run_job, monkeypatch):
    class Clock:
        seconds = 0.0

        def monotonic(self):
            return self.seconds

    clock, update, validate = Clock(), TrainingStep.update, Validator.validate

    def one_second(self, batch):
        clock.seconds += 1
        return update(self, batch)

    def hundred_seconds(self, model, *, step, stop):
        clock.seconds += 100
        return validate(self, model, step=step, stop=stop)

    monkeypatch.setattr(run_writer, "time", clock)
    monkeypatch.setattr(TrainingStep, "update", one_second)
    monkeypatch.setattr(Validator, "validate", hundred_seconds)
    job = make_job("train.validate_every=2", "train.log_every=3", "train.epochs=1")
    run_job(job)
    lines = [json.loads(line) for line in (job.out / "metrics.jsonl").read_text().splitlines()]
    rates = [line["pairs_per_s"] for line in lines if "loss" in line]
    assert all(3 < rate <= 16 for rate in rates)  # at most one batch of 16 pairs per second


def test_time_is_estimated_once_without_first_update(make_job, run_job, monkeypatch):
    class Clock:
        seconds = 0.0

        def monotonic(self):
            return self.seconds

    clock, update = Clock(), TrainingStep.update

    def timed(self, batch):
        clock.seconds += 10 if self.step == 0 else 2
        return update(self, batch)

    monkeypatch.setattr(run_writer, "time", clock)
    monkeypatch.setattr(TrainingStep, "update", timed)
    _, output = run_job(make_job())
    assert output.count("per update") == 1
    # Three updates after the first take 6 s; 10 of 14 are left.
    assert "2 s per update; about 0:00:20 left, without the validations" in output


def test_losses_are_logged_before_the_next_update(make_job, run_job, monkeypatch):
    plain, static = make_job(out="plain"), make_job(out="static")
    run_job(plain)
    update, memory = TrainingStep.update, torch.zeros(())
    # As on a GPU, where an update overwrites the loss of the one before.
    monkeypatch.setattr(TrainingStep, "update", lambda *args: memory.copy_(update(*args)))
    run_job(static)
    assert read_log(static.out) == read_log(plain.out)


def test_stop_during_validation_validates_on_resume(make_job, run_job, stop_after):
    whole, parts = make_job(out="whole"), make_job(out="parts")
    total = run_job(whole)[0].total_steps
    stop_after(total)
    result, _ = run_job(parts)
    assert result.state.step == total
    assert not result.is_finished
    result, _ = run_job(parts)
    assert result.is_finished
    assert read_log(parts.out) == read_log(whole.out)


def test_stop_after_validation_saves_once(make_job, run_job, monkeypatch):
    saved_steps = []
    save, publish = RunWriter.save, RunWriter.publish
    signal = StopSignal()

    def count(self, state, **options):
        saved_steps.append(state.step)
        return save(self, state, **options)

    def stop_while_publishing(self, state, **options):
        publish(self, state, **options)
        signal.is_set = True

    monkeypatch.setattr(RunWriter, "save", count)
    monkeypatch.setattr(RunWriter, "publish", stop_while_publishing)
    result, _ = run_job(make_job("train.validate_every=4"), stop=signal)
    assert result.state.step == 4
    assert saved_steps == [4]


def test_non_finite_loss_stops_the_run(make_job, run_job, monkeypatch):
    job = make_job("train.validate_every=4")
    update = TrainingStep.update

    def broken(self, batch):
        loss = update(self, batch)
        return loss * torch.nan if self.step == 8 else loss

    monkeypatch.setattr(TrainingStep, "update", broken)
    with pytest.raises(
        ReadAgainError, match=r"diverged at step 8: the loss became nan; the state of step 4 and"
    ):
        run_job(job)
    ModelDir.open(job.out, checksums=True)


def test_non_finite_weights_are_not_saved(make_job, run_job, monkeypatch):
    job = make_job("train.validate_every=4")
    update = TrainingStep.update

    def broken(self, batch):
        loss = update(self, batch)
        if self.step == 4:
            self.parameters[0].data[0, 0] = torch.inf
        return loss

    monkeypatch.setattr(TrainingStep, "update", broken)
    with pytest.raises(
        ReadAgainError, match="step 4: a weight is not finite; nothing had been saved"
    ):
        run_job(job)


def test_full_disk_keeps_checkpoint(make_job, run_job, monkeypatch):
    whole, parts = make_job(out="whole"), make_job(out="parts")
    run_job(whole)
    write, calls = checkpoint.write_tensors, []

    def full(path, tensors):
        calls.append(path)
        if len(calls) == 5:  # while the second checkpoint is written
            raise OSError(28, "No space left on device")
        write(path, tensors)

    with monkeypatch.context() as patch:
        patch.setattr(checkpoint, "write_tensors", full)
        with pytest.raises(
            ArtifactError, match=r"step \d+ cannot be saved: No space left on device; step \d+ is"
        ):
            run_job(parts)
    run_job(parts)
    assert read_log(parts.out) == read_log(whole.out)
    assert weights(parts.out) == weights(whole.out)


def test_checkpoints_are_saved_between_validations(make_job, run_job, monkeypatch):
    saved, save = [], run_writer.save_checkpoint

    def record(directory, state, **tensors):
        saved.append(state.step)
        return save(directory, state, **tensors)

    monkeypatch.setattr(run_writer, "SAVE_SECONDS", 0.0)
    monkeypatch.setattr(run_writer, "save_checkpoint", record)
    result, _ = run_job(make_job("train.epochs=1"))
    assert set(range(1, result.total_steps + 1)) <= set(saved)


def test_early_stopping_keeps_best_weights(make_job, run_job, monkeypatch):
    job = make_job("train.validate_every=1", "train.patience=2")
    validate = Validator.validate

    def worse_each_time(self, model, *, step, stop):
        found = validate(self, model, step=step, stop=stop)
        return replace(found, scores=replace(found.scores, dev_loss=float(step)))

    monkeypatch.setattr(Validator, "validate", worse_each_time)
    result, _ = run_job(job)
    assert result.state.step == 3
    assert result.state.has_stopped_early
    assert ModelDir.open(job.out).scores["dev"]["step"] == 1
    # More epochs continue the run, and patience starts again.
    more = replace(job, changes=(*job.changes, "train.epochs=3"))
    result, _ = run_job(more)
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
    mean = make_job(*settings, "train.averaging=ema", out="mean")
    for job in (plain, mean):
        run_job(job)
    losses = [[line.get("loss") for line in read_log(job.out)] for job in (plain, mean)]
    assert losses[0] == losses[1]
    assert weights(plain.out) != weights(mean.out)


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

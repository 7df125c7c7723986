"""Checkpoints: the latest complete one is loaded, and a disk error loses none."""

import json

import pytest
import torch

from readagain.errors import ArtifactError
from readagain.storage.checksums import add_checksum, verify_checksum
from readagain.training import checkpoint
from readagain.training.checkpoint import latest_checkpoint, save_checkpoint
from readagain.training.state import TrainingState


def save(folder, step, *, best=None):
    return save_checkpoint(
        folder,
        TrainingState(step=step),
        weights={"w": torch.full((2,), float(step))},
        training_tensors={"step": torch.tensor(step)},
        best=None if best is None else {"w": torch.full((2,), best)},
        previous=latest_checkpoint(folder),
    )


def test_latest_checkpoint_is_none_in_new_run(tmp_path):
    assert latest_checkpoint(tmp_path / "resume") is None


def test_latest_checkpoint_returns_what_was_saved(tmp_path):
    save(tmp_path, 1)
    save(tmp_path, 2)
    latest = latest_checkpoint(tmp_path)
    assert latest.state == TrainingState(step=2)
    assert latest.weights()["w"].tolist() == [2.0, 2.0]
    assert latest.training_tensors()["step"] == 2
    assert latest.best_file is None


def test_save_removes_older_checkpoints(tmp_path):
    for step in (1, 2, 3):
        save(tmp_path, step)
    assert [path.name for path in tmp_path.iterdir()] == ["checkpoint-000003"]


def test_save_syncs_before_removing_older_checkpoints(tmp_path, disk_events):
    save(tmp_path, 1)
    disk_events.clear()
    save(tmp_path, 2)
    files = ["weights.safetensors", "training.safetensors", "progress.json"]
    assert disk_events == [*files, "unfinished", tmp_path.name, "checkpoint-000001 removed"]


def test_save_accepts_the_same_step_twice(tmp_path):
    save(tmp_path, 1, best=1.0)
    save(tmp_path, 1)
    assert latest_checkpoint(tmp_path).best_file is not None


def test_save_keeps_best_weights(tmp_path):
    first = save(tmp_path, 1, best=5.0).best_file.read_bytes()
    save(tmp_path, 2)
    assert latest_checkpoint(tmp_path).best_file.read_bytes() == first
    save(tmp_path, 3, best=6.0)
    assert latest_checkpoint(tmp_path).best_file.read_bytes() != first


def test_save_keeps_best_weights_without_hard_links(tmp_path, monkeypatch):
    def refuse_link(self, target):
        raise OSError(1, "Operation not permitted")

    monkeypatch.setattr("pathlib.Path.hardlink_to", refuse_link)
    first = save(tmp_path, 1, best=5.0).best_file.read_bytes()
    save(tmp_path, 2)
    assert latest_checkpoint(tmp_path).best_file.read_bytes() == first


def test_latest_checkpoint_skips_truncated_one(tmp_path, monkeypatch):
    monkeypatch.setattr("shutil.rmtree", lambda path, ignore_errors=False: None)
    save(tmp_path, 1)
    weights = save(tmp_path, 2).path / "weights.safetensors"
    assert latest_checkpoint(tmp_path).state.step == 2
    weights.write_bytes(weights.read_bytes()[:-1])
    assert latest_checkpoint(tmp_path).state.step == 1


def test_save_skips_best_weights_of_damaged_checkpoint(tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr("shutil.rmtree", lambda path, ignore_errors=False: None)
        first = save(tmp_path, 1, best=5.0).best_file.read_bytes()
        best_file = save(tmp_path, 2, best=6.0).best_file
    best_file.write_bytes(best_file.read_bytes()[:-1] + b"x")
    assert save(tmp_path, 3).best_file.read_bytes() == first


def test_latest_checkpoint_skips_unfinished_one(tmp_path):
    save(tmp_path, 1)
    (tmp_path / "unfinished").mkdir()
    (tmp_path / "unfinished" / "progress.json").write_text("{}")
    assert latest_checkpoint(tmp_path).state.step == 1
    save(tmp_path, 2)
    assert latest_checkpoint(tmp_path).state.step == 2


def test_full_disk_keeps_earlier_checkpoint(tmp_path, monkeypatch):
    save(tmp_path, 1)

    def fail_to_write(path, content):
        path.write_bytes(content[:10])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(checkpoint, "write_synced", fail_to_write)
    with pytest.raises(
        ArtifactError,
        match="step 2: cannot be saved: No space left on device; step 1 is kept; free some space",
    ):
        save(tmp_path, 2)
    assert latest_checkpoint(tmp_path).state.step == 1
    assert [path.name for path in tmp_path.iterdir()] == ["checkpoint-000001"]


def test_full_disk_is_reported_for_first_checkpoint(tmp_path, monkeypatch):
    def fail_to_write(path, content):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(checkpoint, "write_synced", fail_to_write)
    with pytest.raises(ArtifactError, match="nothing had been saved before"):
        save(tmp_path, 1)


def test_latest_checkpoint_refuses_other_versions(tmp_path):
    path = save(tmp_path, 1).path / "progress.json"
    content = verify_checksum(path.read_bytes())
    del content["progress"]["open_losses"]
    path.write_text(json.dumps(add_checksum(content)))
    with pytest.raises(ArtifactError, match="written by another version of readagain; resume with"):
        latest_checkpoint(tmp_path)


@pytest.mark.parametrize(
    "name", ["weights.safetensors", "training.safetensors", "best.safetensors", "progress.json"]
)
def test_latest_checkpoint_refuses_flipped_bit(tmp_path, name):
    path = save(tmp_path, 1, best=2.0).path / name
    content = bytearray(path.read_bytes())
    content[-20] ^= 1
    path.write_bytes(content)
    with pytest.raises(ArtifactError, match="damaged, and there is no other checkpoint"):
        latest_checkpoint(tmp_path)


def test_latest_checkpoint_refuses_swapped_files(tmp_path):
    folder = save(tmp_path, 1, best=2.0).path
    weights, best = folder / "weights.safetensors", folder / "best.safetensors"
    contents = weights.read_bytes(), best.read_bytes()
    weights.write_bytes(contents[1])
    best.write_bytes(contents[0])
    with pytest.raises(ArtifactError, match="checkpoint-000001: damaged"):
        latest_checkpoint(tmp_path)


def test_unreadable_directory_is_not_an_empty_one(tmp_path, monkeypatch):
    save(tmp_path, 1)

    def refuse_to_read(path):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("os.listdir", refuse_to_read)
    monkeypatch.setattr("os.scandir", refuse_to_read)
    with pytest.raises(ArtifactError, match="cannot be read: Permission denied; run the same"):
        latest_checkpoint(tmp_path)

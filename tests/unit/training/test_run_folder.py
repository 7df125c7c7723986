"""The folder of a run: one process, one run, and nothing of anybody else's."""

import pytest

from readagain.engine.manifest import write_files
from readagain.errors import ArtifactError, ConfigError
from readagain.training.progress import TrainingState
from readagain.training.run_folder import METRICS_FILE, RunDir, claimed

IDENTITY = {"train": {"seed": 1, "learning_rate": 0.1}, "corpus fingerprint": "abc"}


def claim(path, identity=IDENTITY, *, overwrite=False):
    with claimed(path, identity, overwrite=overwrite) as folder:
        return folder


def test_a_new_folder_is_made_and_found_again(tmp_path):
    out = tmp_path / "runs" / "first"
    assert claim(out).finished() is None
    assert claim(out).path == out


def test_a_run_is_finished_once_and_its_checkpoints_leave(tmp_path):
    with claimed(tmp_path, IDENTITY, overwrite=False) as folder:
        (folder.checkpoints / "checkpoint-000001").mkdir()
        folder.finish(TrainingState(step=9))
    assert claim(tmp_path).finished() == TrainingState(step=9)
    assert not (folder.checkpoints / "checkpoint-000001").exists()


def test_the_end_of_a_run_is_on_the_disk_before_its_checkpoints_leave(tmp_path, disk):
    folder = claim(tmp_path)
    (folder.checkpoints / "checkpoint-000001").mkdir()
    disk.clear()
    folder.finish(TrainingState(step=9))
    assert disk == ["finished.json.part", "resume", "checkpoint-000001 removed"]


def test_which_run_it_is_is_on_the_disk_before_there_is_a_checkpoint(tmp_path, disk):
    claim(tmp_path)
    assert disk == ["identity.json.part", "resume"]


def test_another_run_is_refused_with_the_difference(tmp_path):
    claim(tmp_path)
    other = {"train": {"seed": 2, "learning_rate": 0.1}, "corpus fingerprint": "abc"}
    with pytest.raises(
        ConfigError, match="holds another run: train.seed was 1 and is now 2; choose another --out"
    ):
        claim(tmp_path, other)


def test_many_differences_are_counted(tmp_path):
    claim(tmp_path, {str(n): 0 for n in range(5)})
    with pytest.raises(ConfigError, match="'?2'? was 0 and is now 1; 2 more; choose"):
        claim(tmp_path, {str(n): 1 for n in range(5)})


def test_another_run_gives_way_when_told_to(tmp_path):
    with claimed(tmp_path, IDENTITY, overwrite=False) as folder:
        folder.finish(TrainingState(step=9))
        (folder.path / METRICS_FILE).write_text("{}\n")
        write_files(tmp_path, {"run.json": lambda path: path.write_text("{}")})
        (tmp_path / "notes.txt").write_text("mine")
    assert claim(tmp_path, {"other": 1}, overwrite=True).finished() is None
    left = sorted(path.name for path in tmp_path.iterdir())
    assert left == [".lock", "notes.txt", "resume"]


def test_a_model_is_not_overwritten_by_accident(tmp_path):
    write_files(tmp_path, {"run.json": lambda path: path.write_text("{}")})
    with pytest.raises(ConfigError, match="a model is there already; choose another --out"):
        claim(tmp_path)


def test_a_foreign_folder_is_left_alone(tmp_path):
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(ConfigError, match="the folder holds 'thesis.tex' and no run of ours"):
        claim(tmp_path)
    with pytest.raises(ConfigError, match="the folder holds 'thesis.tex' and no run of ours"):
        claim(tmp_path, overwrite=True)


def test_two_at_once_are_refused(tmp_path):
    with (
        claimed(tmp_path, IDENTITY, overwrite=False),
        pytest.raises(ConfigError, match=r"process \d+ is training into this folder; wait for it"),
    ):
        claim(tmp_path)
    claim(tmp_path)


def test_a_folder_that_cannot_be_written_to_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="cannot be written to: Not a directory; choose another"):
        claim(tmp_path / "file" / "out")


def test_a_read_only_folder_is_refused(tmp_path, monkeypatch):
    def denied(self, *arguments, **options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.open", denied)
    with pytest.raises(ConfigError, match="cannot be written to: Permission denied"):
        claim(tmp_path)


def test_a_damaged_model_is_not_cleared_by_guessing(tmp_path):
    (tmp_path / "model.json").write_text("{")
    with pytest.raises(ConfigError, match="not JSON.*empty the folder by hand"):
        claim(tmp_path, overwrite=True)


def test_a_checkpoint_of_an_unknown_run_is_refused(tmp_path):
    (tmp_path / "resume" / "checkpoint-000001").mkdir(parents=True)
    with pytest.raises(ConfigError, match="holds a checkpoint, and no identity.json to say of"):
        claim(tmp_path)
    assert claim(tmp_path, overwrite=True).checkpoints.exists()


def test_a_start_that_was_cut_off_can_be_repeated(tmp_path):
    (tmp_path / "resume").mkdir()
    assert claim(tmp_path).finished() is None


@pytest.mark.parametrize("content", ["{", "[]", "[" * 100_000, "\xff"])
def test_damaged_notes_of_a_run_are_refused(tmp_path, content):
    claim(tmp_path)
    (tmp_path / "resume" / "identity.json").write_bytes(content.encode("latin-1"))
    with pytest.raises(ArtifactError, match=r"identity\.json: damaged; start over with --overw"):
        claim(tmp_path)


@pytest.mark.parametrize("content", ["{", "{}", '{"best": 1, "open_losses": []}'])
def test_a_damaged_note_of_the_end_is_refused(tmp_path, content):
    claim(tmp_path)
    (tmp_path / "resume" / "finished.json").write_text(content)
    with pytest.raises(ArtifactError, match=r"finished\.json: damaged; start over with"):
        RunDir(tmp_path).finished()


def test_a_difference_is_told_in_one_line(tmp_path):
    claim(tmp_path, {"a\nb": "x" * 500})
    with pytest.raises(ConfigError, match=r"another run: 'a\\nb' was 'x{79}… and is now None;"):
        claim(tmp_path, {})

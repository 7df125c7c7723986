"""Run directories: only one process and one run; other files are never deleted."""

import pytest

from readagain.config.files import spec_to_dict
from readagain.config.schema import RunSpec
from readagain.errors import ArtifactError, ConfigError
from readagain.storage.model_manifest import write_model_files
from readagain.storage.output_dir import LocalDir
from readagain.training.run_dir import METRICS_FILE, RunDir
from readagain.training.state import TrainingState

IDENTITY = {"train": {"seed": 1, "learning_rate": 0.1}, "corpus fingerprint": "abc"}


def open_and_close(path, identity=IDENTITY, *, overwrite=False):
    with RunDir.open(LocalDir(path), identity, overwrite=overwrite) as run_dir:
        return run_dir


def test_run_dir_is_created_and_reopened(tmp_path):
    out = tmp_path / "runs" / "first"
    assert open_and_close(out).finished_state() is None
    assert open_and_close(out).path == out


def test_finish_stores_state_and_keeps_checkpoint(tmp_path, disk_events):
    with RunDir.open(LocalDir(tmp_path), IDENTITY, overwrite=False) as run_dir:
        (run_dir.checkpoints / "checkpoint-000001").mkdir()
        disk_events.clear()
        run_dir.finish(TrainingState(step=9))
    assert disk_events == ["temporary file", "resume"]
    assert open_and_close(tmp_path).finished_state() == TrainingState(step=9)
    assert (run_dir.checkpoints / "checkpoint-000001").exists()


def with_epochs(epochs, **settings):
    return {"train": {"seed": 1, "epochs": epochs, **settings}}


def test_open_accepts_more_epochs(tmp_path):
    open_and_close(tmp_path, with_epochs(2))
    assert open_and_close(tmp_path, with_epochs(3)).read_identity() == with_epochs(3)


def test_open_refuses_fewer_epochs(tmp_path):
    open_and_close(tmp_path, with_epochs(3))
    with pytest.raises(ConfigError, match=r"train\.epochs was 3 and is now 2; choose another"):
        open_and_close(tmp_path, with_epochs(2))


def test_open_refuses_more_epochs_with_other_settings(tmp_path):
    open_and_close(tmp_path, with_epochs(2))
    with pytest.raises(ConfigError, match=r"another training run: train\.seed was 1 and is now 2;"):
        open_and_close(tmp_path, with_epochs(3, seed=2))


def test_open_refuses_more_epochs_without_checkpoint(tmp_path):
    open_and_close(tmp_path, with_epochs(2)).finish(TrainingState(step=9))
    message = (
        "has finished its 2 epochs and has no checkpoint to continue from; fine-tune it with "
        "begin_from in another folder, or start over with overwrite"
    )
    with pytest.raises(ConfigError, match=message):
        open_and_close(tmp_path, with_epochs(3))
    assert open_and_close(tmp_path, with_epochs(2)).finished_state() == TrainingState(step=9)


def test_open_syncs_identity(tmp_path, disk_events):
    open_and_close(tmp_path)
    assert disk_events == ["temporary file", "resume"]


def test_open_refuses_another_identity(tmp_path):
    open_and_close(tmp_path)
    other = {"train": {"seed": 2, "learning_rate": 0.1}, "corpus fingerprint": "abc"}
    with pytest.raises(
        ConfigError,
        match="contains another training run: train.seed was 1 and is now 2; choose another folder",
    ):
        open_and_close(tmp_path, other)


def test_open_names_the_model_to_fine_tune_if_it_differs(tmp_path):
    open_and_close(tmp_path, {**IDENTITY, "weights begun from": None})
    expected = "another training run: the checksum of the model to fine-tune was None and is now '"
    with pytest.raises(ConfigError, match=expected):
        open_and_close(tmp_path, {**IDENTITY, "weights begun from": "5f2a"})


def test_open_counts_many_differences(tmp_path):
    open_and_close(tmp_path, {str(n): 0 for n in range(5)})
    with pytest.raises(ConfigError, match="'?2'? was 0 and is now 1; 2 more; choose"):
        open_and_close(tmp_path, {str(n): 1 for n in range(5)})


def test_overwrite_clears_run_and_keeps_other_files(tmp_path):
    with RunDir.open(LocalDir(tmp_path), IDENTITY, overwrite=False) as run_dir:
        run_dir.finish(TrainingState(step=9))
        (run_dir.path / METRICS_FILE).write_text("{}\n")
        write_model_files(tmp_path, {"run.json": lambda path: path.write_text("{}")})
        (tmp_path / "notes.txt").write_text("other")
    assert open_and_close(tmp_path, {"other": 1}, overwrite=True).finished_state() is None
    left = sorted(path.name for path in tmp_path.iterdir())
    assert left == [".lock", "notes.txt", "resume"]


def test_open_refuses_existing_model(tmp_path):
    write_model_files(tmp_path, {"run.json": lambda path: path.write_text("{}")})
    with pytest.raises(ConfigError, match="already contains a model; choose another folder"):
        open_and_close(tmp_path)


def test_open_refuses_folder_with_other_files(tmp_path):
    (tmp_path / "thesis.tex").write_text("other")
    with pytest.raises(ConfigError, match="the folder contains 'thesis.tex' and no training run"):
        open_and_close(tmp_path)
    with pytest.raises(ConfigError, match="the folder contains 'thesis.tex' and no training run"):
        open_and_close(tmp_path, overwrite=True)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_open_refuses_second_process(tmp_path):
    with (
        RunDir.open(LocalDir(tmp_path), IDENTITY, overwrite=False),
        pytest.raises(
            ConfigError, match=r"another process is training into this folder; wait for it"
        ),
    ):
        open_and_close(tmp_path)
    open_and_close(tmp_path)


def test_open_refuses_path_below_a_file(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="cannot be written to: Not a directory; choose another"):
        open_and_close(tmp_path / "file" / "out")


def test_open_reports_read_only_folder(tmp_path, monkeypatch):
    def refuse(self, *arguments, **options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.mkdir", refuse)
    with pytest.raises(ConfigError, match="cannot be written to: Permission denied"):
        open_and_close(tmp_path)


def test_overwrite_refuses_damaged_model(tmp_path):
    (tmp_path / "model.json").write_text("{")
    with pytest.raises(ConfigError, match="not JSON.*empty the folder by hand"):
        open_and_close(tmp_path, overwrite=True)


def test_open_refuses_checkpoint_without_identity(tmp_path):
    (tmp_path / "resume" / "checkpoint-000001").mkdir(parents=True)
    with pytest.raises(ConfigError, match="contains a checkpoint of an unknown run"):
        open_and_close(tmp_path)
    assert open_and_close(tmp_path, overwrite=True).checkpoints.exists()


def test_open_accepts_empty_resume_dir(tmp_path):
    (tmp_path / "resume").mkdir()
    assert open_and_close(tmp_path).finished_state() is None


@pytest.mark.parametrize("content", ["{", "[]", "[" * 100_000, "\xff"])
def test_open_refuses_damaged_identity(tmp_path, content):
    open_and_close(tmp_path)
    (tmp_path / "resume" / "identity.json").write_bytes(content.encode("latin-1"))
    with pytest.raises(ArtifactError, match=r"identity\.json: damaged; choose another folder"):
        open_and_close(tmp_path)


@pytest.mark.parametrize("content", ["{", "{}", '{"best": 1, "open_losses": []}'])
def test_finished_state_refuses_damaged_file(tmp_path, content):
    open_and_close(tmp_path)
    (tmp_path / "resume" / "finished.json").write_text(content)
    with pytest.raises(ArtifactError, match=r"finished\.json: damaged; choose another folder"):
        RunDir(LocalDir(tmp_path)).finished_state()


def test_differences_are_quoted_on_one_line(tmp_path):
    open_and_close(tmp_path, {"a\nb": "x" * 500})
    with pytest.raises(
        ConfigError, match=r"another training run: 'a\\nb' was 'x{79}… and is now None;"
    ):
        open_and_close(tmp_path, {})


def test_run_of_an_older_version_lacks_settings(tmp_path):
    now = spec_to_dict(RunSpec(title="", paper=""))
    before = {**now, "data": {"num_sentences": 1}}
    del before["model"]["decoder"]["initial_state"]
    open_and_close(tmp_path, before)
    now = spec_to_dict(RunSpec(title="", paper=""))
    open_and_close(tmp_path, now)
    german = {**now, "data": {**now["data"], "language": "de"}}
    with pytest.raises(ConfigError, match=r"data\.language was 'en' and is now 'de'"):
        open_and_close(tmp_path, german)

"""`readagain train`: invalid options are one-line errors."""

import os

import pytest

pytestmark = pytest.mark.needs_extras


def fails_with(done, message):
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert message in done.stderr


def test_missing_data_is_refused(readagain, tmp_path):
    done = readagain("train", "tiny", "--data", tmp_path / "nowhere", "--out", tmp_path / "out")
    fails_with(done, "nowhere: no such folder; create it with 'readagain prepare'")
    assert not (tmp_path / "out").exists()


def test_missing_cuda_is_refused(readagain, tmp_path):
    done = readagain(
        *("train", "tiny", "--data", tmp_path, "--out", tmp_path / "out", "--device", "cuda"),
        env={**os.environ, "CUDA_VISIBLE_DEVICES": ""},
    )
    fails_with(done, "--device cuda: torch finds no CUDA device on this machine")


def test_unknown_setting_suggests_the_nearest(readagain, tmp_path):
    done = readagain(
        *("train", "tiny", "--data", tmp_path, "--out", tmp_path / "out"),
        *("--set", "train.learning_rat=1"),
    )
    fails_with(done, "no setting 'learning_rat'; did you mean 'learning_rate'?")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["tiny", "--extend-vocab", "5"],
            "--extend-vocab: needs a trained model; name it with --from",
        ),
        ([], "a run file, or a model folder with --from"),
        (["tiny", "--set", "train.objective=risk"], "then fine-tune it with --from"),
        (["tiny", "--seed", "-1"], "--seed: train.seed is -1; expected 0 or more"),
    ],
)
def test_invalid_job_names_the_option(readagain, tmp_path, options, message):
    done = readagain("train", *options, "--data", tmp_path, "--out", tmp_path / "out")
    fails_with(done, message)


def test_run_that_still_improves_prints_a_hint(capsys, tmp_path):
    from readagain.cli.train import _print_result
    from readagain.training.loop import TrainingResult
    from readagain.training.state import TrainingState

    state = TrainingState(step=9, epochs=3, last_gain=0.05)
    _print_result(TrainingResult(state, total_steps=9, is_finished=True), tmp_path)
    assert (
        "still improving: the last validation lowered the dev loss by 5.0%; "
        "run the same command with --set train.epochs=6 to continue"
    ) in capsys.readouterr().out

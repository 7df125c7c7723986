"""`readagain fit`: output, and one-line errors for invalid options."""

from pathlib import Path

import pytest

pytestmark = pytest.mark.needs_extras

SCORES = {
    "model": {"rouge-1": (41.25, 40.0, 42.5), "rouge-2": (20.0, 19.0, 21.0)},
    "news before fine-tuning": {"rouge-1": (30.0, 29.0, 31.0), "rouge-2": (10.0, 9.0, 11.0)},
}


def test_result_is_printed_as_a_table(capsys):
    from readagain.cli.fit import _print_result
    from readagain.fitting.job import FitResult

    _print_result(FitResult(out=Path("m"), is_finished=True, scores=SCORES, notes=("A note.",)))
    assert capsys.readouterr().out.splitlines() == [
        "A note.",
        "F1 in percent                             ROUGE-1                 ROUGE-2",
        "model                         41.2 (40.0 to 42.5)     20.0 (19.0 to 21.0)",
        "news before fine-tuning       30.0 (29.0 to 31.0)      10.0 (9.0 to 11.0)",
        "m/report.html: report",
        "m: ready; to use it, run: readagain serve --model m",
    ]


def test_stopped_fit_prints_only_how_to_resume(capsys):
    from readagain.cli.fit import _print_result
    from readagain.fitting.job import FitResult

    _print_result(FitResult(out=Path("m"), is_finished=False, notes=("stopped and saved",)))
    assert capsys.readouterr().out == "stopped and saved\n"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--size", "small", "--base", "news"), "--size: conflicts with --base"),
        (("--size", "huge"), "--size is 'huge'; expected small, base, large"),
        (("--epochs", "0"), "--epochs is 0; expected 1 or more"),
        (("--headline-column", "x"), "no column 'x'; set --headline-column to one of"),
    ],
)
def test_bad_options_are_refused_in_one_line(readagain, tmp_path, options, message):
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("text,headline\nThe bridge is open again.,Bridge open\n")
    done = readagain("fit", pairs, "--out", tmp_path / "out", *options)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert message in done.stderr
    assert not (tmp_path / "out").exists()

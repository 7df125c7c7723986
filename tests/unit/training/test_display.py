"""Console output, on a terminal and elsewhere."""

import io

from rich.console import Console

from readagain.training.display import Display
from readagain.training.job import resolve
from readagain.training.state import Scores, TrainingState
from readagain.training.validate import Headline

RECORD = {
    "step": 40,
    "epoch": 1.25,
    "loss": 3.14159,
    "learning_rate": 0.0005,
    "pairs_per_s": 12345.6,
}


def make_display(*, is_terminal, width=200):
    output = io.StringIO()
    console = Console(file=output, force_terminal=is_terminal, width=width, color_system=None)
    return Display(console), output


def test_show_start_prints_run_notes_and_warnings(make_job):
    display, output = make_display(is_terminal=False)
    display.show_start(resolve(make_job()), TrainingState(step=7), total_steps=14)
    printed = output.getvalue()
    assert "Tiny Read-Again LSTM + copy" in printed
    assert "100 pairs, 14 updates in 2 epochs" in printed
    assert "is reduced from" in printed
    assert "resuming from step 7" in printed


def test_show_start_uses_singular(make_job):
    display, output = make_display(is_terminal=False)
    display.show_start(resolve(make_job("train.epochs=1")), TrainingState(step=0), total_steps=1)
    assert "100 pairs, 1 update in 1 epoch\n" in output.getvalue()


def test_show_update_limits_plain_lines(monkeypatch):
    display, output = make_display(is_terminal=False)
    clock = iter([100.0, 100.0, 105.0, 111.0, 111.0])
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    with display.progress_line():
        for _ in range(3):
            display.show_update(RECORD, seconds_left=75.0)
    lines = output.getvalue().splitlines()
    assert len(lines) == 2
    assert lines[0] == (
        "step 40 of 0 · 0:01:15 left · loss 3.142 · epoch 1.25 of 0 · 12,346 pairs/s · rate 0.0005"
    )


def test_live_line_is_removed_at_the_end():
    display, output = make_display(is_terminal=True)
    with display.progress_line():
        display.show_update(RECORD, seconds_left=75.0)
    assert "loss 3.142" in output.getvalue()


def test_progress_line_shows_loss_and_time_left_in_80_columns():
    display, output = make_display(is_terminal=True, width=80)
    display.total_steps, display.epochs = 15_000, 10
    with display.progress_line():
        display.show_update({**RECORD, "step": 12_340}, seconds_left=75.0)
    shown = "step 12,340 of 15,000 · 0:01:15 left · loss 3.142 · epoch 1.25 of 10"
    assert shown in output.getvalue()


def test_print_line_wraps_between_words_on_a_terminal_only():
    for is_terminal, expected in ((True, ["one two", "three"]), (False, ["one two three"])):
        display, output = make_display(is_terminal=is_terminal, width=10)
        display.print_line("one two three")
        assert [line.rstrip() for line in output.getvalue().splitlines()] == expected


def test_show_validation_prints_only_samples_that_changed():
    display, output = make_display(is_terminal=False)
    scores = Scores(step=9, dev_loss=2.5)
    first, second = Headline("first text", "a", "b"), Headline("second text", "a", "b")
    display.show_validation(scores, [first, second], is_best=True)
    output.seek(0)
    output.truncate()
    changed = Headline("second text", "changed", "b")
    display.show_validation(scores, [first, changed], is_best=True)
    assert "first text" not in output.getvalue()
    assert "second text" in output.getvalue()
    assert "  model  changed" in output.getvalue()


def test_show_validation_prints_scores_and_headlines():
    display, output = make_display(is_terminal=False)
    scores = Scores(step=9, dev_loss=2.5, rouge_1=30.0, rouge_2=10.0, rouge_l=28.0)
    sample = Headline(" ".join(["word"] * 30), "bridge [opens]", "the bridge opens")
    display.show_validation(scores, [sample], is_best=True)
    first, text, person, model = output.getvalue().splitlines()
    assert first == (
        "validated at step 9: dev loss 2.500 · ROUGE F1 30.0 / 10.0 / 28.0 · best so far"
    )
    assert text == "  text   " + " ".join(["word"] * 20) + " …"
    assert person == "  human  the bridge opens"
    assert model == "  model  bridge [opens]"


def test_show_estimate_prints_time_left():
    display, output = make_display(is_terminal=False)
    display.show_estimate(88.2, 15)
    assert output.getvalue() == "88 s per update; about 0:22:03 left, without the validations\n"


def test_warn_prints_prefix():
    display, output = make_display(is_terminal=False)
    display.warn("it collapses")
    assert output.getvalue() == "warning: it collapses\n"


def test_print_line_does_not_replace_emoji_codes():
    display, output = make_display(is_terminal=True)
    display.print_line("a :smile: [bold]")
    assert output.getvalue() == "a :smile: [bold]\n"

"""Options that several commands take are checked alike, before any work."""

import pytest

from readagain.cli.main import main


@pytest.fixture
def refused(monkeypatch, capsys, tmp_path):
    """Run a command where there are two processors, and return the line that it refuses with."""
    monkeypatch.setattr("readagain.processors.num_processors", lambda: 2)
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        assert ended.value.code == 2
        return capsys.readouterr().err

    return run


@pytest.mark.parametrize(
    "command",
    [
        ["summarize", "A text of words."],
        ["explain", "A text of words."],
        ["bench"],
        ["serve"],
        ["export", "nowhere"],
        ["evaluate", "--model", "news", "--data", "nowhere", "--protocol", "gigaword"],
        ["tune", "news", "--data", "nowhere", "--protocol", "gigaword"],
        ["train", "tiny", "--data", "nowhere", "--out", "nowhere"],
        ["reproduce", "--out", "nowhere"],
        ["batch", "nowhere.jsonl", "nowhere"],
    ],
    ids=lambda command: command[0],
)
@pytest.mark.parametrize("threads", [9, 3000])
def test_more_threads_than_processors_can_take_are_refused_everywhere(refused, command, threads):
    message = f"readagain: --threads is {threads}; expected 1 to 8, 4 for each processor here\n"
    assert refused(*command, "--threads", str(threads)) == message


@pytest.mark.parametrize(
    "command",
    [
        ["serve"],
        ["batch", "nowhere.jsonl", "nowhere"],
        ["prepare", "nowhere.jsonl", "--out", "nowhere"],
        ["rouge", "nowhere.txt", "nowhere.txt"],
    ],
    ids=lambda command: command[0],
)
def test_so_are_more_processes_than_that(refused, command):
    message = "readagain: --workers is 3000; expected 1 to 8, 4 for each processor here\n"
    assert refused(*command, "--workers", "3000") == message

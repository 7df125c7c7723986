"""Shared options are checked by all commands before any work."""

import pytest
import typer

from readagain.api import evaluate, export_model, prepare, train
from readagain.cli.main import COMMANDS, build_app, main
from readagain.cli.options import as_option
from readagain.config.fields import argument_fields
from readagain.config.options import OPTIONS
from readagain.experiments.options import ReproduceOptions
from readagain.fitting.fit import fit


def flags(command):
    found = typer.main.get_command(build_app()).commands[command]
    return {option.name: option for option in found.params}


@pytest.mark.parametrize("command", ["summarize", "batch"])
def test_command_has_every_decoding_option(command):
    found = flags(command)
    for name in OPTIONS.keys() - {"explain"}:
        assert found[name].opts == [f"--{name.replace('_', '-')}"]
        assert found[name].help == OPTIONS[name].help


@pytest.mark.parametrize(
    ("command", "function"),
    [
        ("prepare", prepare),
        ("train", train),
        ("export", export_model),
        ("evaluate", evaluate),
        ("fit", fit),
        ("reproduce", ReproduceOptions),
    ],
)
def test_command_has_defaults_and_help_of_its_function(command, function):
    options = {
        name: option
        for name, option in flags(command).items()
        if name in argument_fields(function)
        and isinstance(option, typer.core.TyperOption)
        and not option.multiple
    }
    assert len(options) >= 6
    for name, option in options.items():
        field = argument_fields(function)[name]
        assert option.required or option.default == field.default
        assert option.help.startswith(field.help.split("`")[0].removesuffix("."))


def test_help_of_a_list_says_that_the_option_may_be_repeated():
    assert flags("prepare")["dev"].help == (
        "Input with the pairs of the dev split; may be repeated."
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_messages_name_the_options_of_commands(command):
    for name, option in flags(command).items():
        if isinstance(option, typer.core.TyperOption) and name not in {"help", "as_json"}:
            shown = as_option(name).split(" or ")
            assert set(shown) <= {*option.opts, *option.secondary_opts}


@pytest.mark.parametrize("command", ["explain", "evaluate"])
@pytest.mark.parametrize("name", ["beam", "style"])
def test_command_has_some_decoding_options(command, name):
    assert flags(command)[name].help == OPTIONS[name].help


@pytest.mark.parametrize("command", ["explain", "evaluate"])
def test_command_for_one_headline_has_no_n_best(command):
    assert not {"n_best", "diversity", "explain", "min_confidence"} & flags(command).keys()


@pytest.fixture
def refused(monkeypatch, capsys, tmp_path):
    """Run a command on a machine with two processors and return its error."""
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
        ["serve"],
        ["export", "nowhere"],
        ["evaluate", "--model", "news", "--data", "nowhere", "--protocol", "gigaword"],
        ["train", "tiny", "--data", "nowhere", "--out", "nowhere"],
        ["fit", "nowhere.csv", "--out", "nowhere"],
        ["reproduce", "--out", "nowhere"],
        ["batch", "nowhere.jsonl", "nowhere"],
    ],
    ids=lambda command: command[0],
)
@pytest.mark.parametrize("threads", [9, 3000])
def test_too_many_threads_are_refused(refused, command, threads):
    message = (
        f"readagain: --threads is {threads}; expected 1 to 8, 4 per processor of this machine\n"
    )
    assert refused(*command, "--threads", str(threads)) == message


@pytest.mark.parametrize(
    "command",
    [
        ["serve"],
        ["batch", "nowhere.jsonl", "nowhere"],
        ["prepare", "nowhere.jsonl", "--out", "nowhere"],
    ],
    ids=lambda command: command[0],
)
def test_too_many_workers_are_refused(refused, command):
    message = "readagain: --workers is 3000; expected 1 to 8, 4 per processor of this machine\n"
    assert refused(*command, "--workers", "3000") == message

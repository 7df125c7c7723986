"""`readagain export`: what it refuses before any work; the rest is in tests/system."""

import pytest


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere"], "nowhere: no such folder"),
        (["nowhere", "--precision", "int4"], "--precision is 'int4'; expected int8, float32 or bo"),
        (["nowhere", "--check-texts", "0"], "--check-texts is 0; expected 1 or more"),
        (
            ["nowhere", "--shortlist", "4000"],
            "--shortlist is 4000, but RUN itself stays a network in which all words compete; name "
            "a folder for the graphs with --out",
        ),
        (
            ["nowhere", "--shortlist", "4000", "--out", "short"],
            "--shortlist is 4000, and what that costs shows on real headlines alone; name a "
            "prepared corpus with --check-on",
        ),
        (["nowhere", "--threads", "0"], "--threads is 0; expected 1 to"),
    ],
)
@pytest.mark.needs_extras
def test_what_cannot_be_done_is_one_line_and_status_2(readagain, arguments, message):
    done = readagain("export", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1

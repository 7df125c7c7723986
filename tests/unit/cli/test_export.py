"""Invalid input of `readagain export`; the rest is in tests/system."""

import pytest


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere"], "nowhere: no such folder"),
        (["nowhere", "--precision", "int4"], "--precision is 'int4'; expected int8, float32 or bo"),
        (["nowhere", "--check-texts", "0"], "--check-texts is 0; expected 1 or more"),
        (
            ["nowhere", "--shortlist", "4000"],
            "--shortlist is 4000, which needs a new model folder; name one with --out",
        ),
        (
            ["nowhere", "--shortlist", "4000", "--out", "short"],
            "--shortlist: its effect must be measured on real headlines; name a prepared corpus",
        ),
        (["nowhere", "--threads", "0"], "--threads is 0; expected 1 to"),
    ],
)
@pytest.mark.needs_extras
def test_invalid_input_is_one_line_and_status_2(readagain, arguments, message):
    done = readagain("export", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1

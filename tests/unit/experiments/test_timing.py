import pytest

from readagain.experiments.time_table import milliseconds, read_timing, table4
from readagain.experiments.timing import measure_timing


@pytest.mark.slow
def test_every_size_is_measured_with_and_without_copying(tmp_path):
    measure_timing(tmp_path, scale="small", threads=1)
    facts = read_timing(tmp_path)
    for row in ("read_again_lstm", "read_again_lstm_copy"):
        for precision in ("int8", "float32"):
            times = milliseconds(facts, row, precision, 1)
            assert list(times) == ["2K", "5K", "15K", "30K", "69K"]
            assert all(ms > 0 for ms in times.values())
    assert facts["summary_words"] == 8
    assert "not run" not in table4(facts).markdown()

"""If two processes use one folder, the second gets an error and the first is not affected."""

from subprocess import DEVNULL

import psutil
import pytest

pytestmark = [pytest.mark.slow, pytest.mark.distributed]


@pytest.mark.parametrize("name", ["prepare", "train", "batch", "fit"])
def test_second_process_is_refused_and_first_finishes(name, jobs, expected_results, tmp_path):
    job, out = jobs[name], tmp_path / "out"
    first = psutil.Popen(job.command(out), stdout=DEVNULL, stderr=DEVNULL)
    while not job.has_started(out):
        assert first.poll() is None
    first.suspend()
    second = job.run(out)
    first.resume()
    assert second.returncode == 2
    message = second.stderr.splitlines()[-1]
    assert message.startswith(f"readagain: {out}")
    assert job.lock_message in message
    assert first.wait() == 0
    assert job.result(out) == expected_results(name)

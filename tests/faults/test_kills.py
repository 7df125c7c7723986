"""Jobs that are killed at random times resume to the same result."""

import random
import subprocess
from contextlib import suppress

import psutil
import pytest

pytestmark = [pytest.mark.slow, pytest.mark.distributed]

EARLY_SHARE = 0.2  # share of kills before the command has written a file
MAX_WAIT_S = 120


def is_worker(process):
    """Return whether a child process is a worker and not Python's resource tracker."""
    with suppress(psutil.NoSuchProcess):
        return not any("resource_tracker" in word for word in process.cmdline())
    return False


def start_and_kill(job, out, work_s, rng):
    """Start a job and kill it, or one of its workers, at a random time within `work_s` seconds.

    Return False if the job finished before the kill.
    """
    process = job.start(out)
    if rng.random() > EARLY_SHARE:
        job.wait_for_start(process, out)
    with suppress(subprocess.TimeoutExpired):
        process.wait(rng.uniform(0, work_s))
    if process.poll() is not None:
        assert process.returncode == 0, job.output(out)
        return False
    main_process = psutil.Process(process.pid)
    children = main_process.children(recursive=True)
    victim = rng.choice([main_process, *filter(is_worker, children)])
    try:
        victim.kill()
    except psutil.NoSuchProcess:  # the process has just finished
        assert process.wait(MAX_WAIT_S) == 0, job.output(out)
        return False
    if victim != main_process:
        process.wait(MAX_WAIT_S)  # the main process continues, or exits with a message
        assert "Traceback" not in job.output(out)
        return True
    process.wait()
    _, alive = psutil.wait_procs(children, timeout=30)
    assert alive == []  # workers exit with their parent
    return True


@pytest.mark.parametrize("num_kills", [1, pytest.param(25, marks=pytest.mark.stress)])
@pytest.mark.parametrize("name", ["prepare", "train", "batch", "fit"])
def test_killed_job_resumes_to_the_same_result(name, num_kills, jobs, expected_results, tmp_path):
    job, expected = jobs[name], expected_results(name)
    work_s = expected_results.work_s[name]
    rng = random.Random(f"{name} {num_kills}")
    kills_done, num_finished = 0, 0
    while kills_done < num_kills:
        out = tmp_path / f"out-{num_finished}"
        was_killed = start_and_kill(job, out, work_s, rng)
        kills_done += was_killed
        if not was_killed or job.has_ended(out):
            assert job.result(out) == expected
            num_finished += 1
    out = tmp_path / f"out-{num_finished}"
    process = job.run(out)
    assert process.returncode == 0, process.stderr
    assert job.result(out) == expected

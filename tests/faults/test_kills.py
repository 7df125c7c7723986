"""Killed at any moment, again and again, a job ends as if nothing had happened.

CI kills each job, or one of its workers, three times; `pytest tests/faults --kills 25` is the long
run.
"""

import random
import subprocess
import sys
import time
from contextlib import suppress

import psutil
import pytest

pytestmark = [pytest.mark.slow, pytest.mark.distributed]

HURRIED_SHARE = 0.2  # of the kills come before the work has begun
LONGEST_WAIT_S = 120


def is_worker(process):
    """Tell a worker from the process that Python keeps for itself beside them."""
    with suppress(psutil.NoSuchProcess):
        return not any("resource_tracker" in word for word in process.cmdline())
    return False


def is_hit(job, out, work_s, draw):
    """Start a job and kill it, or one of its workers, at some moment; tell whether it was hit."""
    process = job.start(out)
    if draw.random() > HURRIED_SHARE:
        job.wait_for_trace(process, out)
    with suppress(subprocess.TimeoutExpired):
        process.wait(draw.uniform(0, work_s))
    if process.poll() is not None:
        assert process.returncode == 0, job.told(out)
        return False
    family = psutil.Process(process.pid)
    children = family.children(recursive=True)
    victim = draw.choice([family, *filter(is_worker, children)])
    try:
        victim.kill()
    except psutil.NoSuchProcess:  # it has just ended by itself
        assert process.wait(LONGEST_WAIT_S) == 0, job.told(out)
        return False
    if victim != family:
        process.wait(LONGEST_WAIT_S)  # with a lost worker it says so, or goes on without
        assert "Traceback" not in job.told(out)
        return True
    process.wait()
    _, alive = psutil.wait_procs(children, timeout=30)
    assert alive == []  # workers leave with their parent
    return True


@pytest.mark.parametrize("name", ["prepare", "train", "batch"])
def test_a_job_that_is_killed_again_and_again_ends_the_same(
    name, jobs, undisturbed, tmp_path, pytestconfig, capsys
):
    job, expected = jobs[name], undisturbed(name)
    began, work_s = time.monotonic(), undisturbed.work_s[name]
    num_kills, num_finished = pytestconfig.getoption("--kills"), 0
    draw = random.Random(f"{name} {num_kills}")
    kills = 0
    while kills < num_kills:
        out = tmp_path / f"out-{num_finished}"
        was_hit = is_hit(job, out, work_s, draw)
        kills += was_hit
        if not was_hit or job.has_ended(out):  # it was faster; begin another
            assert job.result(out) == expected
            num_finished += 1
    out = tmp_path / f"out-{num_finished}"
    done = job.run(out)
    assert done.returncode == 0, done.stderr
    assert job.result(out) == expected
    line = (
        f"{name}: {kills} kills, {num_finished + 1} jobs ended as an undisturbed one did; "
        f"{work_s:.1f} s of work each, {time.monotonic() - began:.0f} s in all"
    )
    with capsys.disabled():
        sys.stdout.write(f"\n{line}\n")

"""Errors of the Ray engine without a cluster; tests/system runs the jobs."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from readagain.batch import ray as batch_ray
from readagain.errors import ConfigError, DataError, MissingExtraError


@pytest.mark.parametrize("error", [ConnectionError, ValueError])
def test_unreachable_cluster_is_rejected(make_job, news, monkeypatch, error):
    def init(**options):
        assert options["address"] == "far:6379"
        raise error("Failed to connect\nto it")

    exceptions = SimpleNamespace(RayError=OSError)
    cluster = SimpleNamespace(is_initialized=lambda: False, init=init, exceptions=exceptions)
    monkeypatch.setattr(batch_ray, "require", lambda module, **_: cluster)
    engine = batch_ray.ray_engine(address="far:6379", num_workers=1)
    message = "address: no Ray cluster can be reached at far:6379: Failed to connect$"
    with pytest.raises(ConfigError, match=message):
        next(engine(make_job(news), {}))


def test_missing_ray_error_has_pip_command(monkeypatch):
    def fail(module, *, extra, purpose):
        raise MissingExtraError(f"{purpose} needs readagain[{extra}]")

    monkeypatch.setattr(batch_ray, "require", fail)
    with pytest.raises(MissingExtraError, match=r"the engine 'ray' needs readagain\[ray\]"):
        batch_ray.ray_engine(address=None, num_workers=1)


def test_ray_error_is_one_line(make_job, news, monkeypatch):
    class RayError(Exception):
        pass

    def fail():
        raise RayError("a long message\nThe actor died")

    cluster = SimpleNamespace(
        is_initialized=lambda: True,
        cluster_resources=fail,
        exceptions=SimpleNamespace(RayError=RayError),
    )
    monkeypatch.setattr(batch_ray, "require", lambda module, **_: cluster)
    engine = batch_ray.ray_engine(address=None, num_workers=1)
    with pytest.raises(DataError, match="Ray failed: The actor died; run the same command"):
        next(engine(make_job(news), {}))


def test_relative_paths_start_at_driver_directory(make_job, news, monkeypatch, tmp_path):
    assert batch_ray._working_dir(make_job(news)) is None
    monkeypatch.chdir(tmp_path)
    assert batch_ray._working_dir(make_job(news.name)) == tmp_path
    monkeypatch.chdir("/")
    batch_ray._change_dir(None)
    assert Path.cwd() == Path("/")
    batch_ray._change_dir(tmp_path)
    assert Path.cwd() == tmp_path
    with pytest.raises(DataError, match=r"none: missing on the node .*; use a folder"):
        batch_ray._change_dir(tmp_path / "none")

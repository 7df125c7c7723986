"""Names of bundled models, and paths of others."""

import pytest

from readagain.errors import ArtifactError
from readagain.storage import bundled
from readagain.storage.bundled import find_model, model_name


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setattr(bundled, "files", lambda package: tmp_path)
    for name in ("news", "papers"):
        (tmp_path / "models" / name).mkdir(parents=True)
    return tmp_path / "models"


def test_find_model_accepts_bundled_name(home):
    assert find_model("news") == home / "news"


def test_find_model_accepts_path(home, tmp_path):
    assert find_model(tmp_path) == tmp_path
    assert find_model(str(tmp_path)) == tmp_path


def test_find_model_lists_names_for_unknown_one(home):
    with pytest.raises(
        ArtifactError, match="no model 'sport'; bundled models: news, papers; for your"
    ):
        find_model("sport")


def test_find_model_reports_installation_without_models(tmp_path, monkeypatch):
    monkeypatch.setattr(bundled, "files", lambda package: tmp_path)
    with pytest.raises(ArtifactError, match="bundled models: none in this installation"):
        find_model("news")


def test_model_name_is_name_of_folder(tmp_path, monkeypatch):
    assert model_name("news") == "news"
    assert model_name(tmp_path / "runs" / "mine") == "mine"
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert model_name(".") == "here"

"""Names of bundled models, and paths of others."""

import pytest

from readagain.engine import bundled
from readagain.engine.bundled import find_model, model_name
from readagain.errors import ArtifactError


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setattr(bundled, "files", lambda package: tmp_path)
    for name in ("news", "papers"):
        (tmp_path / "models" / name).mkdir(parents=True)
    return tmp_path / "models"


def test_a_name_stands_for_a_bundled_model(home):
    assert find_model("news") == home / "news"


def test_a_path_stands_for_itself(home, tmp_path):
    assert find_model(tmp_path) == tmp_path
    assert find_model(str(tmp_path)) == tmp_path


def test_an_unknown_name_lists_those_there_are(home):
    with pytest.raises(ArtifactError, match="no model 'sport'; bundled models: news, papers; your"):
        find_model("sport")


def test_an_installation_without_models_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(bundled, "files", lambda package: tmp_path)
    with pytest.raises(ArtifactError, match="bundled models: none in this installation"):
        find_model("news")


def test_a_model_is_called_as_its_folder_wherever_one_stands(tmp_path, monkeypatch):
    assert model_name("news") == "news"
    assert model_name(tmp_path / "runs" / "mine") == "mine"
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert model_name(".") == "here"

"""Bundled models, and lookup of a model folder by name or path."""

from importlib.resources import files
from pathlib import Path

from readagain.errors import ArtifactError

DEFAULT_MODEL = "news"


def bundled_models() -> dict[str, Path]:
    """Return the folders of the bundled models by name."""
    home = Path(str(files("readagain"))) / "models"
    if not home.is_dir():
        return {}
    return {folder.name: folder for folder in sorted(home.iterdir()) if folder.is_dir()}


def find_model(model: str | Path) -> Path:
    """Return the folder of a model, given the name of a bundled model or the path of a folder.

    Raises:
        ArtifactError: if there is no such model; the message lists the bundled models.
    """
    bundled = bundled_models()
    if str(model) in bundled:
        return bundled[str(model)]
    if Path(model).is_dir():
        return Path(model)
    names = ", ".join(bundled) or "none in this installation"
    raise ArtifactError(
        f"no model '{model}'; bundled models: {names}; "
        "for your own model give the path of its folder, as in runs/mine"
    )


def model_name(model: str | Path) -> str:
    """Return the name of a bundled model or the name of a model folder."""
    return Path(model).name or Path(model).resolve().name  # `Path(".").name` is empty

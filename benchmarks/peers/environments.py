"""Other summarizers: installation in virtual environments under build/, and timing."""

import json
import subprocess
import sys
import venv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
ENVIRONMENTS = HERE.parents[1] / "build" / "peers"

# torch is pinned and first; otherwise a dependency would install a version with gigabytes of CUDA.
TRANSFORMERS = ("torch==2.13.0", "transformers==5.*")
TORCH = ("torch==2.13.0", "numpy")
CTRANSLATE2 = ("ctranslate2==4.8.*",)
# OpenNMT-py requires torch below 2.3, but runs with this version. Its dependencies are installed
# first, then the package with --no-deps.
OPENNMT = (
    "torch==2.13.0",
    *("configargparse", "ctranslate2", "fasttext-wheel", "flask", "pyahocorasick", "pyonmttok"),
    *("pyyaml", "rapidfuzz", "sacrebleu", "six", "spacy", "tensorboard", "waitress"),
    *("--no-deps", "OpenNMT-py==3.5.1"),
)


@dataclass(frozen=True, kw_only=True)
class Peer:
    """Another summarizer.

    Args:
        environment: name of the virtual environment.
        requirements: packages to install there, in order.
        script: script in this folder that times the summarizer.
        options: additional options of the script.
        reads_words: whether its tokens are words, as in our models, instead of subwords.
    """

    environment: str
    requirements: Sequence[str]
    script: str
    options: Sequence[str] = ()
    reads_words: bool = False

    def time(
        self, settings: Mapping[str, int | str], batch_sizes: Sequence[int]
    ) -> dict[int, float]:
        """Run the script; return the seconds per sentence by batch size."""
        options = [*self.options, "--together", *map(str, batch_sizes)]
        for name, value in settings.items():
            options += [f"--{name}", str(value)]
        python = install(self.environment, self.requirements)
        command = [str(python), str(HERE / self.script), *options]
        process = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
        result = json.loads(process.stdout.splitlines()[-1])
        print(f"{result['version']} {' '.join(self.options)}: {result['seconds']}", file=sys.stderr)
        return {int(batch_size): seconds for batch_size, seconds in result["seconds"].items()}


def install(environment: str, requirements: Sequence[str]) -> Path:
    """Create a virtual environment unless it exists; return its Python.

    Args:
        environment: name of the environment.
        requirements: packages to install there, in order.
    """
    folder = ENVIRONMENTS / environment
    python = folder / "bin" / "python"
    installed_file = folder / "installed.txt"
    lines = "\n".join(requirements)
    if installed_file.is_file() and installed_file.read_text(encoding="utf-8") == lines:
        return python
    print(f"installing {', '.join(requirements)} into {folder}", file=sys.stderr)
    venv.create(folder, with_pip=True, clear=True)
    for count in range(1, len(requirements) + 1):
        # Name all earlier packages again: otherwise pip could change their versions.
        command = [str(python), "-m", "pip", "install", "--quiet", *requirements[:count]]
        subprocess.run(command, check=True)
    installed_file.write_text(lines, encoding="utf-8")
    return python


def installed_bytes(environment: str, requirements: Sequence[str]) -> int:
    """Return the size of the packages of a virtual environment, without pip."""
    folder = install(environment, requirements).parents[1] / "lib"
    return sum(
        file.stat().st_size
        for file in folder.rglob("*")
        if file.is_file() and not file.is_symlink() and "pip" not in file.relative_to(folder).parts
    )


PEERS = {
    "copying LSTM, OpenNMT-py": Peer(
        environment="opennmt",
        requirements=OPENNMT,
        script="opennmt_lstm.py",
        reads_words=True,
    ),
    "Transformer-base int8, CTranslate2": Peer(
        environment="ctranslate2",
        requirements=CTRANSLATE2,
        script="ctranslate2_transformer.py",
    ),
    "T5-small, transformers": Peer(
        environment="transformers",
        requirements=TRANSFORMERS,
        script="transformers_models.py",
        options=("--model", "T5-small"),
    ),
    "distilbart-12-6, transformers": Peer(
        environment="transformers",
        requirements=TRANSFORMERS,
        script="transformers_models.py",
        options=("--model", "distilbart-12-6"),
    ),
}

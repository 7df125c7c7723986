"""Other summarizers, installed in virtual environments under build/, and how to time them."""

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
        environment: the folder of its virtual environment.
        requirements: packages to install there, in order.
        script: the script in this folder that times it.
        options: additional options of the script.
        reads_words: whether its tokens are words, as in our models, not subwords.
    """

    environment: str
    requirements: Sequence[str]
    script: str
    options: Sequence[str] = ()
    reads_words: bool = False

    def time(self, settings: Mapping[str, int | str], together: Sequence[int]) -> dict[int, float]:
        """Return the seconds per sentence by batch size."""
        words = [*self.options, "--together", *map(str, together)]
        for name, value in settings.items():
            words += [f"--{name}", str(value)]
        command = [str(self._python()), str(HERE / self.script), *words]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
        result = json.loads(done.stdout.splitlines()[-1])
        print(f"{result['version']} {' '.join(self.options)}: {result['seconds']}", file=sys.stderr)
        return {int(number): seconds for number, seconds in result["seconds"].items()}

    def _python(self) -> Path:
        """Return the Python of the virtual environment, which is created if it is missing."""
        folder = ENVIRONMENTS / self.environment
        python = folder / "bin" / "python"
        installed = folder / "installed.txt"
        wanted = "\n".join(self.requirements)
        if installed.is_file() and installed.read_text(encoding="utf-8") == wanted:
            return python
        print(f"installing {', '.join(self.requirements)} into {folder}", file=sys.stderr)
        venv.create(folder, with_pip=True, clear=True)
        for last in range(1, len(self.requirements) + 1):
            # With all earlier packages, so that pip does not change their versions.
            command = [str(python), "-m", "pip", "install", "--quiet", *self.requirements[:last]]
            subprocess.run(command, check=True)
        installed.write_text(wanted, encoding="utf-8")
        return python


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

"""Dependencies, locks, image, workflow and citation agree with `pyproject.toml` and the code."""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PYTHONS = [
    line.rpartition(" ")[2]
    for line in PROJECT["classifiers"]
    if re.search(r"Python :: 3\.\d", line)
]
VULNERABLE_BELOW = {
    "filelock": "3.20.3",  # CVE-2026-22701
    "h11": "0.16",  # CVE-2025-43859
    "lxml-html-clean": "0.4.4",  # CVE-2026-28350
    "nltk": "3.9.4",  # CVE-2026-33231
    "onnx": "1.21",  # CVE-2026-27489, CVE-2026-34446, CVE-2026-34447
    "pyarrow": "23.0.1",  # CVE-2026-25087
    "starlette": "1.0.1",  # CVE-2025-62727, CVE-2026-48710
    "torch": "2.10",  # CVE-2026-24747
}


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def requirements(*extras: str) -> list[Requirement]:
    lines = [*PROJECT["dependencies"]]
    for extra in extras:
        lines += PROJECT["optional-dependencies"][extra]
    return [Requirement(line) for line in lines]


def lock(name: str) -> dict[str, tuple[Version, str]]:
    """Return the version of each package of a lock file, and its lines."""
    blocks = re.split(r"^(?=\w)", read(f"deploy/requirements-{name}.txt"), flags=re.MULTILINE)[1:]
    pins = (re.match(r"([\w.-]+)==(\S+)", block) for block in blocks)
    return {
        canonicalize_name(pin[1]): (Version(pin[2]), block)
        for pin, block in zip(pins, blocks, strict=True)
        if pin
    }


def serve_options() -> str:
    code = "from readagain.cli.main import main; main(['serve', '--help'])"
    command = [sys.executable, "-c", code]
    wide = {**os.environ, "COLUMNS": "200"}  # long options are not truncated
    return subprocess.run(command, capture_output=True, text=True, check=False, env=wide).stdout


def test_minimum_versions_exclude_known_vulnerabilities():
    declared = requirements(*PROJECT["optional-dependencies"])
    assert {each.name for each in declared} >= set(VULNERABLE_BELOW)
    too_low = [
        str(each)
        for each in declared
        if each.name in VULNERABLE_BELOW
        and not any(
            clause.operator in (">=", "==")
            and Version(clause.version) >= Version(VULNERABLE_BELOW[each.name])
            for clause in each.specifier
        )
    ]
    assert too_low == []


def test_lock_of_the_server_agrees_with_pyproject():
    declared = {each.name: each for each in requirements("serve")}
    pins = lock("server")
    direct = {name for name, (_, block) in pins.items() if "readagain (pyproject.toml)" in block}
    assert direct == set(declared), "run `make lock`"
    assert [
        name for name, each in declared.items() if not each.specifier.contains(pins[name][0])
    ] == []


def test_lock_of_the_build_has_the_backend():
    backend = Requirement(
        *tomllib.loads(read("pyproject.toml"))["build-system"]["requires"]
    ).specifier
    pins = lock("build")
    assert backend.contains(pins["hatchling"][0])
    assert "build" in pins


@pytest.mark.parametrize("name", ["server", "build"])
def test_locked_packages_have_hashes(name):
    pins = lock(name)
    assert [package for package, (_, block) in pins.items() if "--hash=sha256:" not in block] == []


def test_classifiers_start_at_the_required_python():
    assert PYTHONS == ["3.11", "3.12", "3.13"]
    assert PROJECT["requires-python"] == f">={PYTHONS[0]}"


def test_image_copies_what_exists_and_its_ignore_file_admits():
    copied = [
        source
        for line in re.findall(r"^COPY (?!--from)(.+)$", read("deploy/Dockerfile"), re.MULTILINE)
        for source in line.split()[:-1]
    ]
    assert {"src", "pyproject.toml", "README.md", "LICENSE"} <= set(copied)
    assert [source for source in copied if not (ROOT / source).exists()] == []
    admitted = [
        line[1:] for line in read("deploy/Dockerfile.dockerignore").split() if line[0] == "!"
    ]
    assert [each for each in copied if not any(Path(each).match(glob) for glob in admitted)] == []
    assert {PROJECT["readme"], "LICENSE"} <= set(copied)  # the build needs them


def test_image_is_not_root_and_checks_its_health():
    dockerfile = read("deploy/Dockerfile")
    stages = re.split(r"^FROM ", dockerfile, flags=re.MULTILINE)[1:]
    assert len(stages) == 2
    assert {stage.split()[0] for stage in stages} == {f"python:{PYTHONS[-1]}-slim"}
    assert re.search(r"^USER [1-9]\d*$", stages[1], re.MULTILINE)
    assert "/readyz" in re.search(r"^HEALTHCHECK(.|\n)+?\]$", stages[1], re.MULTILINE)[0]
    assert dockerfile.count("--require-hashes") == 2


def test_commands_of_image_and_compose_exist():
    entry, arguments = (
        json.loads(re.search(rf"^{name} (\[.+\])$", read("deploy/Dockerfile"), re.MULTILINE)[1])
        for name in ("ENTRYPOINT", "CMD")
    )
    assert entry[:2] == ["readagain", "serve"]
    server = yaml.safe_load(read("deploy/compose.yaml"))["services"]["server"]
    named = {word for word in [*entry, *arguments, *server["command"]] if word.startswith("--")}
    options = serve_options()
    assert named
    assert [option for option in named if option not in options] == []


def test_compose_connects_prometheus_with_the_server():
    compose = yaml.safe_load(read("deploy/compose.yaml"))
    server, prometheus = (compose["services"][name] for name in ("server", "prometheus"))
    assert (ROOT / "deploy" / server["build"]["context"] / server["build"]["dockerfile"]).exists()
    config_file = prometheus["volumes"][0].split(":")[0]
    (scrape,) = yaml.safe_load(read(f"deploy/{config_file}"))["scrape_configs"]
    assert scrape["metrics_path"] == "/metrics"
    assert scrape["static_configs"] == [{"targets": ["server:8000"]}]
    assert server["ports"] == ["127.0.0.1:8000:8000"]
    key = scrape["authorization"]["credentials_file"]
    assert key in server["command"]
    assert key == f"/run/secrets/{server['secrets'][0]}"
    assert server["secrets"] == prometheus["secrets"] == list(compose["secrets"])
    assert "/deploy/api-key" in read(".gitignore").splitlines()


def test_workflow_runs_ci_and_every_python():
    jobs = yaml.safe_load(read(".github/workflows/ci.yaml"))["jobs"]
    commands = {
        name: [step["run"] for step in job["steps"] if "run" in step] for name, job in jobs.items()
    }
    assert ".ci/run" in commands["full"]
    assert jobs["full"]["container"].startswith(f"python:{PYTHONS[0]}-")
    assert jobs["unit"]["strategy"]["matrix"]["python"] == PYTHONS
    text = "\n".join(line for lines in commands.values() for line in lines)
    targets = re.findall(r"\bmake (\w+)", text)
    assert [each for each in targets if not re.search(rf"^{each}:", read("Makefile"), re.M)] == []
    files = re.findall(r"\b(?:tests|deploy)/[\w/.-]+\.\w+", text)
    assert [each for each in files if not (ROOT / each).exists()] == []


def test_ci_builds_the_distribution_and_the_bill_of_materials():
    assert re.search(r"^make wheel sbom$", read(".ci/run"), re.MULTILINE)
    assert re.search(r"^wheel: dist ", read("Makefile"), re.MULTILINE)


def test_version_is_that_of_changelog_and_citation():
    latest = re.search(r"^## (\S+) \((.+)\)$", read("CHANGELOG.md"), re.MULTILINE)
    citation = yaml.safe_load(read("CITATION.cff"))
    assert (latest[1], latest[2]) == (PROJECT["version"], citation["date-released"])
    assert citation["version"] == PROJECT["version"]


def test_citation_names_the_paper():
    citation = yaml.safe_load(read("CITATION.cff"))
    paper = citation["preferred-citation"]
    assert citation["license"] == PROJECT["license"]
    assert paper["url"] == "https://arxiv.org/abs/1611.03382"
    families = [author["family-names"] for author in paper["authors"]]
    assert families == ["Zeng", "Luo", "Fidler", "Urtasun"]


WITHOUT_POSIX = """
import asyncio, concurrent.futures.process, filelock, multiprocessing.spawn, numpy, onnxruntime
import os, rich.console, runpy, signal, socket, subprocess, sys, tempfile, typer, uuid
for module in ("fcntl", "grp", "posix", "pty", "pwd", "resource", "syslog", "termios", "tty"):
    sys.modules[module] = None  # importing it raises ImportError
for name in ("O_NOFOLLOW", "fork", "geteuid", "getuid", "killpg", "mkfifo", "posix_fallocate",
             "sched_getaffinity", "setsid", "sysconf"):
    delattr(os, name)
for name in ("SIGALRM", "SIGHUP", "SIGKILL", "SIGPIPE", "SIGUSR1", "alarm", "pthread_sigmask"):
    delattr(signal, name)
del socket.AF_UNIX, socket.SO_REUSEPORT
runpy.run_path(sys.argv[1])
from readagain.cli.main import main
main(["summarize", "--model", sys.argv[2], "A storm hit Zyx.", "--output", sys.argv[3]])
"""


def test_base_install_needs_nothing_of_posix(tmp_path):
    light, toy = ROOT / "tests" / "import_light_modules.py", ROOT / "tests/assets/models/toy"
    command = [sys.executable, "-c", WITHOUT_POSIX, light, toy, tmp_path / "out.txt"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Zyx" in (tmp_path / "out.txt").read_text(encoding="utf-8")

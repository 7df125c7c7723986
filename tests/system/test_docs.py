"""Documentation: snippets run, links have targets, lists are complete."""

import re
import tomllib
from pathlib import Path

import pytest
from page_examples import run_page_examples

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


def page(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)


def outside_blocks(text: str) -> str:
    return re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)


@pytest.mark.slow
def test_tour_doctests_pass(trained_example, monkeypatch):
    folder, _ = trained_example
    monkeypatch.chdir(folder.parent)
    found = run_page_examples("tour.md")
    assert found.attempted > 0
    assert found.failed == 0


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_point_to_existing_files(path):
    text = outside_blocks(path.read_text(encoding="utf-8"))
    links = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text)
    local = [link for link in links if "://" not in link]
    assert [link for link in local if not (path.parent / link).exists()] == []


def test_code_named_in_decisions_exists():
    missing = []
    for path in sorted((ROOT / "docs" / "decisions").glob("0*.md")):
        (_, seen) = path.read_text(encoding="utf-8").rsplit("\nSee: ", 1)
        for name in re.findall(r"[\w/.-]+\.(?:py|md)", seen):
            homes = (ROOT / "src" / "readagain" / name, ROOT / name, ROOT / "docs" / name)
            if not any(home.exists() for home in homes):
                missing.append(f"{path.name}: {name}")
    assert missing == []


def test_index_lists_every_page_and_decision():
    for folder in (ROOT / "docs", ROOT / "docs" / "decisions"):
        index = (folder / "index.md").read_text(encoding="utf-8")
        names = [str(path.relative_to(folder)) for path in folder.rglob("*.md")]
        listed = [name for name in names if not name.startswith("decisions/")]
        assert [name for name in listed if f"({name})" not in index] == ["index.md"]


def test_contributing_lists_make_targets_and_benchmarks():
    targets = set(re.findall(r"^([a-z-]+): .*##", page("Makefile"), flags=re.MULTILINE))
    scripts = {path.name for path in (ROOT / "benchmarks").glob("*.py")}
    contributing = page("CONTRIBUTING.md")
    assert set(re.findall(r"^\| `make ([a-z-]+)`", contributing, flags=re.MULTILINE)) == targets
    assert set(re.findall(r"^\| `python benchmarks/(\w+\.py)`", contributing, re.M)) == scripts


def test_docs_install_from_the_clone():
    """The package is in no index yet."""
    published = re.compile(r"readagain\[|pip install (?:--\S+ )*readagain")
    assert [path.name for path in PAGES if published.search(path.read_text("utf-8"))] == []


def test_architecture_shows_the_layers_of_the_linter():
    diagram = blocks(page("docs/architecture.md"), "")[0].splitlines()
    shown = [re.split(r" {2,}", line)[0].split(" | ") for line in diagram]
    contracts = tomllib.loads(page("pyproject.toml"))["tool"]["importlinter"]["contracts"]
    layers = [line.replace("readagain.", "").split(" | ") for line in contracts[0]["layers"]]
    assert shown == layers


def test_architecture_names_functions_that_exist():
    text = outside_blocks(page("docs/architecture.md"))
    named = re.findall(r"`([\w/]+\.py)`:\s+`(\w+)`", text)
    assert len(named) > 40
    source = {name: page(f"src/readagain/{name}") for name, _ in named}
    assert [
        f"{name}: {function}"
        for name, function in named
        if not re.search(rf"^\s*(?:def|class) {function}\b", source[name], flags=re.MULTILINE)
    ] == []

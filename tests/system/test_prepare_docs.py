"""Commands and Python snippet of docs/data.md."""

import json
import re
from itertools import islice, product
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "data.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, flags=re.DOTALL | re.MULTILINE)


@pytest.mark.slow
def test_data_page_commands_work(tmp_path, readagain, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with Path("pairs.jsonl").open("w") as file:
        for letters in islice(product("abcdefghij", repeat=4), 2500):
            place = "".join(letters)  # letters, since digits would be masked
            text = f"A storm closed the schools of {place} on Monday. It left by noon."
            record = {"text": text, "headline": f"Storm closes {place} schools"}
            file.write(json.dumps(record) + "\n")
    Path("gigaword").mkdir()
    for split in ("train", "valid"):
        Path(f"gigaword/{split}.article.filter.txt").write_text(f"a storm came to {split} UNK .\n")
        Path(f"gigaword/{split}.title.filter.txt").write_text(f"storm comes to {split}\n")

    commands = [line.split() for line in blocks("")[0].splitlines()]
    assert [command[:2] for command in commands] == [["readagain", "prepare"]] * 2
    for _, *arguments in commands:
        done = readagain(*arguments)
        assert done.returncode == 0, done.stderr

    (snippet,) = blocks("python")
    names: dict[str, object] = {}
    exec(snippet, names)
    assert re.fullmatch(r"storm closes [a-j]{4} schools\n", capsys.readouterr().out)
    assert len(names["raw"]) == 2000


def test_data_page_lists_filters_and_formats():
    from readagain.corpus.filters import FILTERS
    from readagain.corpus.readers.formats import FORMATS

    assert [name for name in (*FILTERS, *FORMATS) if f"| `{name}` |" not in PAGE] == []

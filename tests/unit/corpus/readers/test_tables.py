import json

from corpus_records import read_records

from readagain.corpus.inputs import Example
from readagain.corpus.readers.find import CorpusReadOptions, find_inputs
from readagain.formats.records import InvalidRecord

RECORD = {
    "id": "0000.00001",
    "title": "On Storms\n  and Schools",
    "abstract": "  We study storms.\nThey close schools.\n",
    "categories": "physics.ao-ph",
}


def test_arxiv_line_breaks_become_spaces(tmp_path):
    path = tmp_path / "snapshot.json"
    path.write_text(json.dumps(RECORD) + "\n" + json.dumps(RECORD) + "\nbroken\n")
    (source,) = find_inputs([str(path)], CorpusReadOptions())
    assert source.format == "arxiv"
    first, second, invalid = read_records(path)
    assert first == second
    assert first == Example("We study storms. They close schools.", "On Storms and Schools")
    assert isinstance(invalid, InvalidRecord)

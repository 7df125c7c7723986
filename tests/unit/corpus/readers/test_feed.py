import pytest
from corpus_records import read_records

from readagain.corpus.inputs import Example
from readagain.corpus.readers import feed
from readagain.errors import DataError

RSS = """<?xml version="1.0"?>
<rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/"><channel>
<title>Eastmoor Post</title><description>News</description>
<item><title>Storm &amp; schools</title>
<description>&lt;p&gt;A storm closed &lt;b&gt;twelve&lt;/b&gt; schools.&lt;/p&gt;</description>
</item>
<item><title>Calm</title><content:encoded><![CDATA[It is <i>calm</i> again.]]></content:encoded>
</item><item><title>Bare</title></item>
</channel></rss>"""

ATOM = """<feed xmlns="http://www.w3.org/2005/Atom"><title>Post</title>
<entry><title>Storm</title><summary type="html">A &lt;b&gt;storm&lt;/b&gt; came.</summary></entry>
<entry><title>Calm</title><content type="xhtml"><div>It <i>is</i> calm.</div></content></entry>
</feed>"""

BOMB = """<?xml version="1.0"?>
<!DOCTYPE lolz [<!ENTITY lol "lol">
<!ENTITY lol2 "&lol;&lol;&lol;&lol;&lol;&lol;&lol;&lol;&lol;&lol;">
<!ENTITY lol3 "&lol2;&lol2;&lol2;&lol2;&lol2;&lol2;&lol2;&lol2;&lol2;&lol2;">]>
<rss><channel><item><title>&lol3;</title><description>&lol3;</description></item></channel></rss>"""

OUTSIDE = """<!DOCTYPE rss [<!ENTITY secret SYSTEM "file:///etc/hostname">]>
<rss><channel><item><title>&secret;</title></item></channel></rss>"""


def test_rss_items_are_read_without_markup(tmp_path):
    path = tmp_path / "news.rss"
    path.write_text(RSS)
    assert read_records(path) == [
        Example("A storm closed twelve schools.", "Storm & schools"),
        Example("It is calm again.", "Calm"),
        Example("", "Bare"),
    ]


def test_atom_entries_are_read(tmp_path):
    path = tmp_path / "news.xml"
    path.write_text(ATOM)
    assert read_records(path) == [Example("A storm came.", "Storm"), Example("It is calm.", "Calm")]


@pytest.mark.parametrize("attack", [BOMB, OUTSIDE])
def test_xml_entity_bomb_is_rejected(tmp_path, attack):
    path = tmp_path / "news.xml"
    path.write_text(attack)
    with pytest.raises(DataError, match=r"news\.xml: declares a document type, XML entities"):
        read_records(path)


def test_truncated_xml_error_has_line_number(tmp_path):
    path = tmp_path / "news.xml"
    path.write_text("<rss>\n<channel>\n<item>")
    with pytest.raises(DataError, match=r"news\.xml:3: not well-formed XML at column 7"):
        read_records(path)


def test_number_of_tags_is_limited(tmp_path, monkeypatch):
    path = tmp_path / "feed.rss"
    path.write_text("<rss><item><title>Calm</title></item></rss>")
    monkeypatch.setattr(feed, "MAX_TAGS", 6)
    assert read_records(path) == [Example("", "Calm")]
    monkeypatch.setattr(feed, "MAX_TAGS", 5)
    with pytest.raises(DataError, match=r"feed\.rss: more than 5 tags; convert the feed to JSONL"):
        read_records(path)


@pytest.mark.parametrize("encoding", ["gbk", "no-such-code"])
def test_unknown_feed_encoding_is_rejected(tmp_path, encoding):
    path = tmp_path / "feed.rss"
    path.write_text(f'<?xml version="1.0" encoding="{encoding}"?><rss/>')
    with pytest.raises(DataError, match=r"feed\.rss: cannot be decoded .*; convert the feed to"):
        read_records(path)


def test_nested_item_is_read_once(tmp_path):
    path = tmp_path / "feed.rss"
    path.write_text(
        "<rss><channel><item><title>Calm</title><description>It is calm."
        "<item><title>Storm</title></item></description></item>"
        "<item><title>Rain</title></item></channel></rss>"
    )
    assert read_records(path) == [Example("It is calm.Storm", "Calm"), Example("", "Rain")]

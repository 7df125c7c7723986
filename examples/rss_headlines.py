"""Write a headline for each item of an RSS file, and print it after the title of the item.

    python examples/rss_headlines.py feed.xml
    python examples/rss_headlines.py                # an invented feed

The base install is enough. The command `readagain summarize feed.xml` also reads RSS.
"""

import argparse
import html
import re
from pathlib import Path

from defusedxml.ElementTree import fromstring  # rejects malicious XML

from readagain import Summarizer

FEED = """\
<rss version="2.0"><channel><title>Ostwick News</title>
<item><title>Bridge</title><description>&lt;p&gt;The council of Ostwick said on Monday that the old
harbour bridge will close for 18 months of repairs.&lt;/p&gt;</description></item>
<item><title>Storm</title><description>A storm left 2,400 homes without power on Friday night, the
grid operator said.</description></item>
</channel></rss>
"""


def read_items(feed: str) -> list[tuple[str, str]]:
    """Return the title and the text of each item, without HTML tags."""
    items = []
    for item in fromstring(feed).iter("item"):
        text = html.unescape(re.sub(r"<[^<>]*>", " ", item.findtext("description", "")))
        items.append((item.findtext("title", ""), " ".join(text.split())))
    return items


def main() -> None:
    """Print the title and the new headline of each item."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("feed", nargs="?", type=Path, help="RSS file")
    path = parser.parse_args().feed
    items = read_items(path.read_text(encoding="utf-8") if path else FEED)
    summaries = Summarizer.load("news").summarize([text for _, text in items], max_words=12)
    for (title, _), summary in zip(items, summaries, strict=True):
        print(f"{title}: {summary.text}")


if __name__ == "__main__":
    main()

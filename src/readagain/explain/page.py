"""Explanation as a single HTML page without external resources.

The page of `readagain serve` shows explanations with the same script and style sheet.
"""

import json
import re
from base64 import b64encode
from dataclasses import asdict, replace
from hashlib import sha256
from html import escape
from pathlib import Path
from string import Template

from readagain.explain.view import ExplanationView

STATIC = Path(__file__).parent / "static"
_MAX_UNREAD = 1_000  # characters of unread text in the page; its script shows fewer


def explanation_page(view: ExplanationView) -> str:
    """Return a page with the headline, the shaded text and all attention weights.

    The page contains the explanation as JSON, which the script of the page inserts as text. The
    content security policy allows only this script.
    """
    modules = [_read_static("elements.js"), _read_static("explanation.js")]
    # The modules become one script, without imports and exports.
    script = re.sub(r"^import .*\n|^export ", "", "".join(modules), flags=re.M)
    script += 'showExplanation(JSON.parse(at("data").textContent));\n'
    shortened = replace(view, text=view.text[: view.source[-1].end + _MAX_UNREAD])
    return Template(_read_static("page.html")).substitute(
        digest=b64encode(sha256(script.encode()).digest()).decode(),
        title=escape(view.summary),
        model=escape(view.model),
        style=_read_static("explanation.css"),
        # A "<" could end the script element.
        data=json.dumps(asdict(shortened)).replace("<", r"\u003c"),
        script=script,
    )


def _read_static(name: str) -> str:
    return (STATIC / name).read_text(encoding="utf-8")

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
_MAX_UNREAD = 1_000  # characters after the last word that was read; the script shows fewer


def explanation_page(view: ExplanationView) -> str:
    """Return a page with the headline, the shaded text and all attention weights.

    The page contains the explanation as JSON, which its script inserts as text. The content
    security policy allows only this script.
    """
    modules = (_read(f"{name}.js") for name in ("elements", "explanation"))
    script = "".join(re.sub(r"^import .*\n|^export ", "", each, flags=re.M) for each in modules)
    script += 'showExplanation(JSON.parse(at("data").textContent));\n'
    shown = replace(view, text=view.text[: view.source[-1].end + _MAX_UNREAD])
    return Template(_read("page.html")).substitute(
        digest=b64encode(sha256(script.encode()).digest()).decode(),
        title=escape(view.summary),
        model=escape(view.model),
        style=_read("explanation.css"),
        data=json.dumps(asdict(shown)).replace("<", r"\u003c"),
        script=script,
    )


def _read(name: str) -> str:
    return (STATIC / name).read_text(encoding="utf-8")

"""The log of the server: one JSON object a line, and no text of anybody's in it."""

import json
import logging
import sys
from datetime import UTC, datetime

logger = logging.getLogger("readagain.serve")


class JsonLines(logging.Formatter):
    """Writes a record as one line of JSON: when, how grave, what, and its facts."""

    def format(self, record: logging.LogRecord) -> str:
        """Write one record."""
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "pid": record.process,
            "event": record.getMessage(),
            **getattr(record, "facts", {}),
        }
        if record.exc_info and record.exc_info[0] is not None:
            line["error"] = record.exc_info[0].__name__
        return json.dumps(line, ensure_ascii=True)


def start_logging() -> None:
    """Send our own log, and what the HTTP server has to say, to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    for name, level in (("readagain.serve", logging.INFO), ("uvicorn", logging.WARNING)):
        each = logging.getLogger(name)
        each.handlers = [handler]
        each.setLevel(level)
        each.propagate = False

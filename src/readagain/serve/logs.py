"""Log of the server: one JSON object per line, without any text of a request."""

import json
import logging
import sys
from datetime import UTC, datetime

logger = logging.getLogger("readagain.serve")


class JsonFormatter(logging.Formatter):
    """Formatter that writes a record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """Return time, level, process, event and the fields given as `extra={"fields": …}`."""
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "pid": record.process,
            "event": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info and record.exc_info[0] is not None:
            line["error"] = record.exc_info[0].__name__
        return json.dumps(line, ensure_ascii=True)


def start_logging(uvicorn_level: int = logging.WARNING) -> None:
    """Send the logs of the server, uvicorn and asyncio to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter())
    levels = {
        "readagain.serve": logging.INFO,
        "uvicorn": uvicorn_level,
        "asyncio": logging.WARNING,
    }
    for name, level in levels.items():
        library_logger = logging.getLogger(name)
        library_logger.handlers = [handler]
        library_logger.setLevel(level)
        library_logger.propagate = False

"""The log on standard error: a line for each record, for people or for programs.

Control characters in a client's name are escaped: it cannot end a line or act on a terminal.
"""

import json
import logging
import sys
import time

from slipring.cli.display import printable
from slipring.cli.stderr_lines import StderrLines
from slipring.control.events import EventEntry

TIME = "%Y-%m-%dT%H:%M:%S"


class LineFormatter(logging.Formatter):
    """`time LEVEL message`, for people."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 (logging's name)
        record.message = printable(record.message)
        return super().formatMessage(record)

    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:  # noqa: N802
        """The time of the event if the record has one, else the time of the record."""
        at_ns: int = getattr(record, "at_ns", int(record.created * 1e9))
        seconds = time.strftime(datefmt or TIME, time.gmtime(at_ns // 1_000_000_000))
        return f"{seconds}.{at_ns // 1_000_000 % 1000:03d}Z"


class JsonFormatter(LineFormatter):
    """One JSON object in a line, for programs: always with the same keys, some of them null."""

    def format(self, record: logging.LogRecord) -> str:
        entry: EventEntry | None = getattr(record, "entry", None)
        row = {
            "time": self.formatTime(record),
            "level": record.levelname.lower(),
            "event": entry.kind if entry else None,
            "room": entry.room if entry else None,
            "client": entry.client if entry else None,
            "topic": entry.topic if entry else None,
            "request": entry.request if entry else None,
            "detail": entry.detail if entry else None,
            "message": record.getMessage(),
        }
        if record.exc_info:
            row["exception"] = self.formatException(record.exc_info)
        return json.dumps(row)


def log_to_stderr(level: str, log_format: str) -> None:
    """Write records of at least this level, as `text` or as `json`; the last call holds."""
    root = logging.getLogger()
    handler = next((one for one in root.handlers if isinstance(one, StderrLines)), None)
    if handler is None:
        handler = StderrLines(sys.stderr.fileno())
        root.addHandler(handler)
    line = LineFormatter("%(asctime)s %(levelname)s %(message)s", TIME)
    handler.setFormatter(JsonFormatter() if log_format == "json" else line)
    root.setLevel(level.upper())

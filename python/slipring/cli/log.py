"""The log on standard error: a line for each record, for people or for programs.

A name that a client gave itself never ends a line, and never reaches a terminal as control codes.
"""

import json
import logging
import time

from slipring.cli.display import printable
from slipring.control.events import Told

TIME = "%Y-%m-%dT%H:%M:%S"


class LineFormatter(logging.Formatter):
    """`time LEVEL message`, for people."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 (logging's name)
        record.message = printable(record.message)
        return super().formatMessage(record)

    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:  # noqa: N802
        """Give the time it happened, where the record knows it, else when it was told."""
        at_ns: int = getattr(record, "at_ns", int(record.created * 1e9))
        seconds = time.strftime(datefmt or TIME, time.gmtime(at_ns // 1_000_000_000))
        return f"{seconds}.{at_ns // 1_000_000 % 1000:03d}Z"


class JsonFormatter(LineFormatter):
    """One JSON object in a line, for programs: the same keys in each, null where there is none."""

    def format(self, record: logging.LogRecord) -> str:
        told: Told | None = getattr(record, "told", None)
        row = {
            "time": self.formatTime(record),
            "level": record.levelname.lower(),
            "event": told.kind if told else None,
            "client": told.client if told else None,
            "detail": told.detail if told else None,
            "message": record.getMessage(),
        }
        if record.exc_info:
            row["exception"] = self.formatException(record.exc_info)
        return json.dumps(row)


def log_to_stderr(level: str, form: str) -> None:
    """Write what is at least of this level, as `text` or as `json`."""
    handler = logging.StreamHandler()
    line = LineFormatter("%(asctime)s %(levelname)s %(message)s", TIME)
    handler.setFormatter(JsonFormatter() if form == "json" else line)
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)

"""The file with the alarms: so what people did outlives a restart. Written whole, or not at all."""

import contextlib
import json
import os
from pathlib import Path
from typing import Any

from slipring.control.alarm import AlarmComment, alarm_of
from slipring.control.alarm_board import ALARMS_MAX, AlarmBoard
from slipring.control.folder import make_private
from slipring.errors import AlarmError

FILE = "alarms.json"
FORMAT = 1
PRIVATE = 0o600
STORE_BYTES_MAX = 256 * 1024 * 1024


class AlarmStore:
    """The file in the data folder of a broker."""

    def __init__(self, data: Path) -> None:
        self.file: Path = data / FILE

    def read(self) -> AlarmBoard:
        """The alarms of the file, none if it is not there; AlarmError if it cannot be used."""
        try:
            with self.file.open("rb") as stream:
                return _decoded(stream.read(STORE_BYTES_MAX))
        except FileNotFoundError:
            return AlarmBoard()
        except OSError as error:
            raise AlarmError(f"cannot read {self.file}: {error.strerror}") from None
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise AlarmError(f"{self.file} is damaged: {error}") from None

    def set_aside(self) -> Path:
        """Keep a file that cannot be used, under another name."""
        aside = self.file.with_name(f"{FILE}.damaged")
        with contextlib.suppress(OSError):
            self.file.replace(aside)
        return aside

    def write(self, content: bytes) -> None:
        """Replace the file. AlarmError says why not."""
        new = self.file.with_name(f"{FILE}.new")
        try:
            make_private(self.file.parent)
            new.unlink(missing_ok=True)  # of a write that was cut; never follow a link
            descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE)
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(content)
                stream.flush()
                os.fsync(descriptor)
            new.replace(self.file)
        except OSError as error:
            raise AlarmError(f"cannot write {self.file}: {error.strerror}") from None


Rows = dict[str, Any]


def rows_of(board: AlarmBoard) -> Rows:
    """A board as it is now, quickly: encoding it may take long, and is for a thread."""
    return {
        "slipring": "alarms",
        "format": FORMAT,
        "next_id": board.next_id,
        "alarms": [alarm.row() for alarm in board.alarms],
        "history": [alarm.row() for alarm in board.history],
    }


def encoded(rows: Rows) -> bytes:
    """Rows as the file has them. Each by itself: no other thread runs while one text is made."""
    lists = ("alarms", "history")
    head = json.dumps({name: told for name, told in rows.items() if name not in lists})
    listed = (f'"{name}":[{",".join(map(_encoded, rows[name]))}]' for name in lists)
    return f"{head[:-1]},{','.join(listed)}}}".encode()


def _encoded(row: Rows) -> str:
    return json.dumps(row, separators=(",", ":"), default=_comment)


def _comment(one: object) -> Rows:
    if not isinstance(one, AlarmComment):
        raise TypeError(type(one).__name__)
    return one.row()


def _decoded(content: bytes) -> AlarmBoard:
    rows: Rows = json.loads(content)
    if (rows["slipring"], rows["format"]) != ("alarms", FORMAT):
        raise ValueError("it holds no alarms, or those of a later version of Slipring")
    if type(rows["next_id"]) is not int:
        raise ValueError("next_id is no number")
    alarms = [alarm_of(row) for row in rows["alarms"][:ALARMS_MAX]]
    history = [alarm_of(row) for row in rows["history"]]
    return AlarmBoard(alarms, history, rows["next_id"])

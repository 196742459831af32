"""Syslog: a line as a message of RFC 5424, its fields as structured data."""

import re
import time

from slipring.logs.line import LogLine, LogSource

FACILITY = 3
"""System daemons."""
APPLICATION = "slipring"
DATA_ID = "slipring@32473"
"""The name of our structured data; the number is the one that RFC 5612 has for examples."""
BOM = b"\xef\xbb\xbf"
NIL = "-"
HOST_CHARACTERS_MAX = 255
ID_CHARACTERS_MAX = 32
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
NOT_NAME = re.compile(r"[^\x21-\x7e]")


def syslog_message(line: LogLine, source: LogSource) -> bytes:
    """A line as RFC 5424 has it."""
    seconds, rest = divmod(line.at_ns, 1_000_000_000)
    at = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
    head = " ".join(
        (
            f"<{FACILITY * 8 + line.severity}>1",
            f"{at}.{rest // 1_000:06d}Z",
            _name(source.host, HOST_CHARACTERS_MAX),
            APPLICATION,
            str(source.process),
            _name((line.event or "").replace(" ", "-"), ID_CHARACTERS_MAX),
            _data(line, source),
        )
    )
    text = line.text if not line.exception else f"{line.text}: {line.exception}"
    text = _shown(text)
    mark = b"" if text.isascii() else BOM  # section 6.4
    return head.encode(errors="replace") + b" " + mark + text.encode(errors="replace")


def syslog_frame(message: bytes) -> bytes:
    """A message in a stream: its length comes first (RFC 6587, octet counting)."""
    return b"%d %b" % (len(message), message)


def _name(text: str, most: int) -> str:
    return NOT_NAME.sub("?", text)[:most] or NIL


def _data(line: LogLine, source: LogSource) -> str:
    fields = [("broker", source.broker), *line.fields]
    values = " ".join(f'{name}="{_escaped(value)}"' for name, value in fields)
    return f"[{DATA_ID} {values}]"


def _escaped(text: str) -> str:
    """Escape what would end a value (section 6.3.3)."""
    for one in ("\\", '"', "]"):
        text = text.replace(one, f"\\{one}")
    return _shown(text)


def _shown(text: str) -> str:
    """Show control characters by their code: a client's name must not begin a new line."""
    return CONTROL.sub(lambda found: f"#{ord(found[0]):03o}", text)

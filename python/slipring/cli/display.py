"""Messages, sizes and times as output. Control codes in them never reach a terminal."""

import base64
import json
import math
import os

from slipring.client.payload import encode
from slipring.model import Message, Sample


def printable(text: str) -> str:
    """The text with every control character as an escape."""
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in text
    )


def counted(number: int, thing: str, things: str | None = None) -> str:
    """`1 message`, `1,200 messages`; `things` is the plural if it is not formed with an s."""
    return f"{number:,} {thing if number == 1 else things or f'{thing}s'}"


def as_text(message: Message) -> bytes:
    """`topic payload`; bytes that are not UTF-8 as escapes."""
    payload = message.payload.decode("utf-8", "backslashreplace")
    return f"{printable(message.topic)} {printable(payload)}\n".encode()


def as_sample_text(message: Message) -> bytes:
    """The same for a sample; a quality that is not good follows, as in `sample_as_text`."""
    properties = dict(message.properties)
    if "quality" not in properties:
        return as_text(message)
    why = f" ({properties['why']})" if "why" in properties else ""
    return as_text(message)[:-1] + f" [{printable(properties['quality'] + why)}]\n".encode()


def as_payload(message: Message, *, for_terminal: bool) -> bytes:
    """The payload alone; unchanged if it is for a file or a program."""
    if for_terminal:
        return printable(message.payload.decode("utf-8", "backslashreplace")).encode() + b"\n"
    return message.payload + b"\n"


def as_json(message: Message) -> bytes:
    """One JSON object; a payload that is not UTF-8 as `payload_base64`."""
    row: dict[str, object] = {"topic": message.topic}
    try:
        row["payload"] = message.text
    except UnicodeDecodeError:
        row["payload_base64"] = base64.b64encode(message.payload).decode()
    row["retain"] = message.retain
    if message.qos:
        row["qos"] = message.qos
    if message.properties:
        row["properties"] = message.properties
    for name in ("content_type", "response_topic", "expiry_s"):
        if (value := getattr(message, name)) is not None:
            row[name] = value
    if message.correlation_data is not None:
        row["correlation_data_base64"] = base64.b64encode(message.correlation_data).decode()
    return json.dumps(row).encode() + b"\n"


def value_text(sample: Sample) -> str:
    """A value as in a plain message: a label, `true`, the shortest digits; bytes in hex."""
    if sample.label is not None:
        return printable(sample.label)
    if isinstance(sample.value, bytes):
        return sample.value.hex()
    return (
        printable(sample.value) if isinstance(sample.value, str) else encode(sample.value).decode()
    )


def sample_as_text(name: str, sample: Sample) -> bytes:
    """`name value`, followed by a quality that is not good."""
    quality = "" if sample.quality.is_good else f" [{sample.quality}]"
    return f"{printable(name)} {value_text(sample)}{quality}\n".encode()


def sample_as_json(name: str, sample: Sample) -> bytes:
    """One JSON object; bytes as `value_base64`, NaN and infinities as text."""
    return json.dumps({"name": name, **sample_fields(sample)}).encode() + b"\n"


def sample_fields(sample: Sample) -> dict[str, object]:
    """The keys of a sample in JSON."""
    value, key = sample.value, "value"
    if isinstance(value, bytes):
        key, value = "value_base64", base64.b64encode(value).decode()
    elif isinstance(value, float) and not math.isfinite(value):
        value = str(value)
    row: dict[str, object] = {key: value, "time": sample.time_ns}
    row["quality"] = sample.quality.status.word
    if sample.quality.why is not None:
        row["why"] = sample.quality.why
    if sample.label is not None:
        row["label"] = sample.label
    return row


def write_all(descriptor: int, content: bytes) -> None:
    """Write all bytes, unbuffered: one call of the system may write only a part."""
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def size(count: float) -> str:
    """Bytes, in steps of a thousand."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1_000:
            return f"{count:,.0f} {unit}" if unit == "B" else f"{count:,.1f} {unit}"
        count /= 1_000
    return f"{count:,.1f} TB"


def ago(seconds: float) -> str:
    """How long ago, in one unit."""
    return "now" if seconds < 1 else f"{duration(seconds)} ago"


def duration(seconds: float) -> str:
    """A time in one unit, rounded down."""
    whole = max(0, int(seconds))
    for length, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if whole >= length:
            return f"{whole // length} {unit}"
    return f"{whole} s"


def lag(seconds: float | None) -> str:
    """How far behind in time: in tenths of a second, in seconds, in one unit; "" if unknown."""
    if seconds is None:
        return ""
    if seconds < 600:
        return f"{seconds:.1f} s" if seconds < 60 else f"{seconds:.0f} s"
    return duration(seconds)

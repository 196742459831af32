"""Messages as lines of output. What others sent never reaches a terminal as control codes."""

import base64
import json

from slipring.model import Message


def printable(text: str) -> str:
    """The text, with an escape in place of each character that a terminal could act on."""
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in text
    )


def as_text(message: Message) -> bytes:
    """`topic payload`; bytes that are not UTF-8 as escapes."""
    payload = message.payload.decode("utf-8", "backslashreplace")
    return f"{printable(message.topic)} {printable(payload)}\n".encode()


def as_payload(message: Message) -> bytes:
    """The payload alone, untouched: for a file or a program, not for a terminal."""
    return message.payload + b"\n"


def as_safe_payload(message: Message) -> bytes:
    """The payload alone, for a terminal."""
    return printable(message.payload.decode("utf-8", "backslashreplace")).encode() + b"\n"


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

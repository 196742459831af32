"""Messages as JSON lines, and back. A payload that is not UTF-8 is in Base64, under another key.

Every mistake in a line is a ValueError; only the caller knows the line.
"""

import base64
import json
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from slipring.journal.native_messages import RETAIN_FLAG
from slipring.recording.moment import format_time, parse_time
from slipring.recording.properties import from_base64, from_keys, to_keys

INT64_MIN, INT64_MAX = -(1 << 63), (1 << 63) - 1

Row = tuple[int, str, str, int, bytes, bytes]
"""A message with the columns of MESSAGES."""


def encode_lines(batch: pa.RecordBatch) -> bytes:
    """A line for each row of an export."""
    lines = map(json.dumps, _rows(batch))
    return "".join(f"{line}\n" for line in lines).encode()


def _rows(batch: pa.RecordBatch) -> Iterator[dict[str, Any]]:
    columns = batch.to_pydict()
    encoded = batch.column("properties").dictionary_encode()
    properties = [to_keys(value) for value in encoded.dictionary.to_pylist()]
    keys = encoded.indices.to_pylist()
    for index, offset in enumerate(columns["offset"]):
        receive_ns = columns["receive_ns"][index]
        yield {
            "offset": offset,
            "receive_ns": receive_ns,
            "receive_time": format_time(receive_ns),
            "publisher": columns["publisher"][index],
            "topic": columns["topic"][index],
            "qos": columns["qos"][index],
            "retain": columns["retain"][index],
            **properties[keys[index]],
            **_payload(columns["payload"][index]),
        }


def _payload(payload: bytes) -> dict[str, str]:
    try:
        return {"payload": payload.decode()}
    except UnicodeDecodeError:
        return {"payload_base64": base64.b64encode(payload).decode()}


def decode_line(line: bytes, publisher: str, now_ns: int) -> Row:
    """The message of a line; or ValueError.

    Only `topic` and a payload are required; unknown keys are ignored.
    """
    row = _object(line)
    topic = _text(row, "topic", None)
    qos = _number(row, "qos", 0)
    if not 0 <= qos <= 2:
        raise ValueError(f"qos is {qos}; it is 0, 1 or 2")
    retain = row.get("retain", False)
    if not isinstance(retain, bool):
        raise ValueError("retain is not true or false")  # noqa: TRY004
    return (
        _receive_ns(row, now_ns),
        _text(row, "publisher", publisher),
        topic,
        qos + RETAIN_FLAG * retain,
        from_keys(row),
        _payload_bytes(row),
    )


def _object(line: bytes) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"not JSON: {error}") from None
    if not isinstance(row, dict):
        raise ValueError("not a JSON object")  # noqa: TRY004
    return row


def _text(row: dict[str, Any], key: str, default: str | None) -> str:
    value = row.get(key, default)
    if value is None:
        raise ValueError(f"there is no {key}")
    if not isinstance(value, str):
        raise ValueError(f"{key} is not text")  # noqa: TRY004
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{key} is not Unicode text") from None
    return value


def _number(row: dict[str, Any], key: str, default: int) -> int:
    value = row.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"{key} is not a whole number")  # noqa: TRY004
    return value


def _receive_ns(row: dict[str, Any], now_ns: int) -> int:
    if "receive_ns" not in row and "receive_time" in row:
        receive_ns = _time_ns(_text(row, "receive_time", None))
    else:
        receive_ns = _number(row, "receive_ns", now_ns)
    if not INT64_MIN <= receive_ns <= INT64_MAX:
        raise ValueError("the receive time is beyond the years 1678 to 2262")
    return receive_ns


def _time_ns(text: str) -> int:
    try:
        return parse_time(text)
    except ValueError:
        raise ValueError("receive_time is not a time such as 2026-01-02T03:04:05Z") from None


def _payload_bytes(row: dict[str, Any]) -> bytes:
    if ("payload" in row) == ("payload_base64" in row):
        raise ValueError("give either payload or payload_base64")
    if "payload" in row:
        return _text(row, "payload", None).encode()
    return from_base64(row, "payload_base64")

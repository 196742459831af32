"""Rows as messages to be published, and messages as the columns of a batch. Pure."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Literal

import pyarrow as pa

from slipring.errors import PipelineError
from slipring.journal.native_messages import MESSAGES, RETAIN_FLAG
from slipring.publication.parts import Properties, with_parts

QOS = 2
"""Each message reaches a subscriber once, also if the broker is killed (decision 0072)."""

RowKind = Literal["samples", "messages", "alarms"]
ROW_KINDS: tuple[RowKind, ...] = ("samples", "messages", "alarms")


@dataclass(frozen=True)
class OutgoingMessage:
    """One message to be published."""

    topic: str
    payload: bytes
    qos: int = QOS
    retain: bool = False
    properties: tuple[tuple[str, object], ...] = ()


def message_table(messages: Sequence[OutgoingMessage], sink: str, batch: int) -> pa.Table:
    """Messages as columns, each with the name of its part."""
    properties: list[Properties] = [list(one.properties) for one in messages]
    columns = {
        "receive_ns": pa.array([0] * len(messages), pa.int64()),
        "publisher": pa.array([""] * len(messages), pa.string()),
        "topic": pa.array([one.topic for one in messages], pa.string()),
        "flags": pa.array([one.qos + RETAIN_FLAG * one.retain for one in messages], pa.uint8()),
        "properties": with_parts(properties, sink, batch),
        "payload": pa.array([one.payload for one in messages], pa.binary()),
    }
    return pa.table([columns[name] for name in MESSAGES.names], schema=MESSAGES)


def plain_messages(rows: pa.Table) -> list[OutgoingMessage]:
    """Rows with `topic` and `payload`, and perhaps `qos` and `retain`."""
    _require(rows, "messages", "topic", "payload")
    names = [name for name in ("topic", "payload", "qos", "retain") if name in rows.column_names]
    made = []
    for row in rows.select(names).to_pylist():
        payload = row["payload"]
        octets = payload.encode() if isinstance(payload, str) else payload or b""
        qos = row.get("qos")
        given = QOS if qos is None else int(qos)
        if row["topic"] is None or not 0 <= given <= QOS:
            raise PipelineError(
                f"a row has the topic {row['topic']!r} and the qos {qos}; a message needs a topic, "
                "and a qos of 0, 1 or 2"
            )
        made.append(OutgoingMessage(row["topic"], octets, given, bool(row.get("retain"))))
    return made


def alarm_messages(rows: pa.Table, prefix: str) -> list[OutgoingMessage]:
    """Rows as retained JSON, on their `topic`, or below the prefix on the name of `parameter`."""
    has_topic = "topic" in rows.column_names
    if not has_topic:
        _require(rows, "alarms", "parameter")
    return [
        OutgoingMessage(
            row.pop("topic") if has_topic else f"{prefix}/{row['parameter']}",
            _json(row),
            retain=True,
            properties=(("content_type", "application/json"),),
        )
        for row in rows.to_pylist()
    ]


def _require(rows: pa.Table, kind: str, *names: str) -> None:
    if missing := [name for name in names if name not in rows.column_names]:
        raise PipelineError(
            f"rows to be delivered as {kind} need the column {' and '.join(missing)}; they have "
            f"{', '.join(rows.column_names)}"
        )


def _json(row: Mapping[str, Any]) -> bytes:
    given = {name: _number(value) for name, value in row.items() if value is not None}
    return json.dumps(given, ensure_ascii=False, default=_as_json, allow_nan=False).encode()


def _number(value: object) -> object:
    """JSON has no number for what is not finite: it is a text there."""
    if not isinstance(value, float) or math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _as_json(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Decimal):
        return int(value) if value == int(value) else float(value)
    if isinstance(value, bytes):
        return value.hex()
    raise PipelineError(f"an alarm cannot have a {type(value).__name__}")


def common_topic(names: Iterable[str]) -> str:
    """The levels with which all names begin, or the first name: the topic of their frames."""
    split = [name.split("/") for name in names]
    shared = []
    for levels in zip(*split, strict=False):
        if len(set(levels)) > 1:
            break
        shared.append(levels[0])
    return "/".join(shared) or "/".join(split[0])

"""Samples as messages of MCAP channels. Pure.

Parameters whose names differ in the last level only share a channel, as plotting programs want it:
`jet/engine/rpm` and `jet/engine/egt` are `rpm` and `egt` of the channel `jet/engine`. A message of
the journal becomes a JSON object for each channel and source time, such as {"rpm":7031,"egt":612}.
"""

import base64
import json
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from slipring.frames.arrays import Octets, Times, Values
from slipring.model import Kind, Parameter
from slipring.recording.history.shape.export_columns import ExportColumns
from slipring.recording.history.shape.file_schema import QUALITY_WORDS
from slipring.recording.history.shape.recorded_samples import RecordedSamples, joined

QUALITY_KEY = "#quality"
"""The key of the qualities that are not good. No level of a topic contains `#`."""
TOP = "/"
"""The channel of parameters with one level."""

_QUALITY_TEXTS = pa.array([json.dumps(word) for word in QUALITY_WORDS])


class ChannelMessage(NamedTuple):
    """What a message of the journal brought to one channel for one source time."""

    channel: int
    receive_ns: int
    time_ns: int
    content: bytes
    """A JSON object."""


class McapChannels:
    """The channels of the exported parameters."""

    def __init__(self, columns: ExportColumns) -> None:
        self._columns = columns
        pairs = [column.name.rpartition("/") for column in columns.columns]
        self.names: list[str] = list(dict.fromkeys(before or TOP for before, _, _ in pairs))
        numbers = {name: number for number, name in enumerate(self.names)}
        self._channels = np.array([numbers[before or TOP] for before, _, _ in pairs], np.int64)
        """The channel of each column."""
        self._last_levels = [last for _, _, last in pairs]
        self._keys = pa.array(
            [f"{json.dumps(last, ensure_ascii=False)}:" for last in self._last_levels]
        )

    def schema(self, channel: int) -> dict[str, Any]:
        """The JSON schema of a channel's objects."""
        members = np.flatnonzero(self._channels == channel).tolist()
        columns = self._columns.columns
        properties = {
            self._last_levels[one]: _schema(columns[one].entry.parameter) for one in members
        }
        properties[QUALITY_KEY] = {
            "type": "object",
            "description": "the qualities that are not good",
        }
        return {"title": self.names[channel], "type": "object", "properties": properties}

    def messages(self, parts: list[RecordedSamples]) -> Iterator[ChannelMessage]:
        """The samples as objects, in the order of arrival."""
        flat = _FlatSamples.of(joined(parts), self._columns)
        channels = self._channels[flat.columns]
        repeats = _repeats(flat)
        order = np.lexsort((repeats, flat.times, channels, flat.offsets))
        flat, channels, repeats = flat.take(order), channels[order], repeats[order]
        starts = _starts(flat.offsets, channels, flat.times, repeats)
        pairs = pc.binary_join_element_wise(self._keys.take(flat.columns), flat.texts, "")
        contents = pc.binary_join_element_wise(
            "{", _comma_joined(pairs, starts), self._quality_texts(flat, starts), "}", ""
        )
        return map(
            ChannelMessage,
            channels[starts].tolist(),
            flat.receive_ns[starts].tolist(),
            flat.times[starts].tolist(),
            contents.cast(pa.binary()).to_pylist(),
        )

    def _quality_texts(self, flat: "_FlatSamples", starts: Times) -> pa.Array:
        """What follows the values in each object: the qualities that are not good, or nothing."""
        texts: np.ndarray[Any, np.dtype[np.object_]] = np.full(len(starts), "", object)
        flawed = np.flatnonzero(flat.qualities)
        if len(flawed):
            which = np.searchsorted(starts, flawed, side="right") - 1
            first = np.flatnonzero(np.diff(which, prepend=-1))
            keys = self._keys.take(flat.columns[flawed])
            words = _QUALITY_TEXTS.take(flat.qualities[flawed])
            pairs = pc.binary_join_element_wise(keys, words, "")
            joined_pairs = _comma_joined(pairs, first)
            texts[which[first]] = pc.binary_join_element_wise(
                f',"{QUALITY_KEY}":{{', joined_pairs, "}", ""
            ).to_pylist()
        return pa.array(texts, pa.string())


class _FlatSamples(NamedTuple):
    """Samples of all kinds, their values as JSON."""

    columns: Times
    times: Times
    qualities: Octets
    offsets: Times
    receive_ns: Times
    texts: pa.Array

    @classmethod
    def of(cls, parts: list[RecordedSamples], columns: ExportColumns) -> "_FlatSamples":
        return cls(
            np.concatenate([columns.numbers(one.indices) for one in parts]).astype(np.int64),
            np.concatenate([one.times for one in parts]),
            np.concatenate([one.qualities for one in parts]),
            np.concatenate([one.offsets for one in parts]),
            np.concatenate([one.receive_ns for one in parts]),
            pa.concat_arrays([_json_values(one.kind, one.values) for one in parts]),
        )

    def take(self, order: Times) -> "_FlatSamples":
        return _FlatSamples(
            self.columns[order],
            self.times[order],
            self.qualities[order],
            self.offsets[order],
            self.receive_ns[order],
            self.texts.take(pa.array(order)),
        )


def _repeats(flat: _FlatSamples) -> Times:
    """How often the message had the same parameter and time before: an object has it once."""
    order = np.lexsort((flat.times, flat.columns, flat.offsets))
    starts = _starts(flat.offsets[order], flat.columns[order], flat.times[order])
    counts = np.diff(starts, append=len(order))
    repeats = np.empty(len(order), np.int64)
    repeats[order] = np.arange(len(order)) - np.repeat(starts, counts)
    return repeats


def _starts(*keys: Times) -> Times:
    """The positions at which one of the keys changes."""
    changes = np.zeros(len(keys[0]), np.bool_)
    changes[:1] = True
    for key in keys:
        changes[1:] |= key[1:] != key[:-1]
    return np.flatnonzero(changes)


def _comma_joined(texts: pa.Array, starts: Times) -> pa.Array:
    """One text for each start: the texts from there to the next start, with commas between."""
    ends = np.append(starts, len(texts)).astype(np.int64)
    lists = pa.LargeListArray.from_arrays(pa.array(ends), texts)
    return pc.binary_join(lists, ",")


def _json_values(kind: Kind, values: Values) -> pa.Array:
    """Each value as JSON. JSON has no NaN and no infinity: they are null. Bytes are Base64."""
    match kind:
        case Kind.TEXT:
            return _each(values, lambda text: text)
        case Kind.BYTES:
            return _each(values, lambda content: base64.b64encode(content).decode())
        case Kind.F32 | Kind.F64:
            numbers = pa.array(values, mask=~np.isfinite(values))
            return pc.fill_null(numbers.cast(pa.string()), "null")
        case _:
            return pa.array(values).cast(pa.string())


def _each(values: Values, text_of: Callable[[Any], str]) -> pa.Array:
    texts = [json.dumps(text_of(value), ensure_ascii=False) for value in values]
    return pa.array(texts, pa.string())


def _schema(parameter: Parameter) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": _json_type(parameter.kind)}
    if parameter.kind is Kind.BYTES:
        schema["contentEncoding"] = "base64"
    if parameter.labels:
        schema["oneOf"] = [
            {"const": number, "title": label} for number, label in sorted(parameter.labels.items())
        ]
    words = {"description": parameter.description, "unit": parameter.unit}
    return schema | {key: word for key, word in words.items() if word}


def _json_type(kind: Kind) -> str:
    if kind in {Kind.TEXT, Kind.BYTES}:
        return "string"
    if kind is Kind.BOOL:
        return "boolean"
    return "integer" if kind.is_integer else "number"

"""Parameters by what is before the last level of their names, as plotting programs want it. Pure.

The samples of a group become JSON objects: one for each message and time, with what it brought.
"""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from slipring.frames.arrays import Octets, Times
from slipring.model import Kind, Parameter, Quality
from slipring.recording.history.chosen import Chosen
from slipring.recording.history.json_texts import join_runs, json_texts
from slipring.recording.history.samples import Samples, joined

QUALITY = "#quality"
"""The key of what is not good. No level of a topic has this sign."""
TOP = "/"
"""The group of parameters with one level."""

QUALITY_TEXTS = pa.array([json.dumps(str(Quality.of_byte(byte))) for byte in range(256)])


class Said(NamedTuple):
    """What a message of the journal brought of one group at one time."""

    group: int
    receive_ns: int
    time_ns: int
    content: bytes
    """A JSON object."""


class Groups:
    """The groups of the chosen parameters."""

    def __init__(self, chosen: Chosen) -> None:
        self._chosen = chosen
        pairs = [column.name.rpartition("/") for column in chosen.columns]
        self.names = list(dict.fromkeys(before or TOP for before, _, _ in pairs))
        numbers = {name: number for number, name in enumerate(self.names)}
        self._of_column = np.array([numbers[before or TOP] for before, _, _ in pairs], np.int64)
        self._last = [last for _, _, last in pairs]
        self._keys = pa.array([f"{json.dumps(last, ensure_ascii=False)}:" for last in self._last])

    def schema(self, group: int) -> dict[str, Any]:
        """The JSON schema of a group's objects."""
        members = np.flatnonzero(self._of_column == group).tolist()
        columns = self._chosen.columns
        properties = {self._last[one]: _schema(columns[one].entry.parameter) for one in members}
        properties[QUALITY] = {"type": "object", "description": "the qualities that are not good"}
        return {"title": self.names[group], "type": "object", "properties": properties}

    def said(self, parts: list[Samples]) -> Iterator[Said]:
        """The samples as objects, in the order of arrival."""
        flat = _Flat.of(joined(parts), self._chosen)
        groups = self._of_column[flat.columns]
        again = _again(flat)
        order = np.lexsort((again, flat.times, groups, flat.offsets))
        flat, groups, again = flat.take(order), groups[order], again[order]
        starts = _starts(flat.offsets, groups, flat.times, again)
        pairs = pc.binary_join_element_wise(self._keys.take(flat.columns), flat.texts, "")
        contents = pc.binary_join_element_wise(
            "{", join_runs(pairs, starts), self._flawed(flat, starts), "}", ""
        )
        return map(
            Said,
            groups[starts].tolist(),
            flat.receive_ns[starts].tolist(),
            flat.times[starts].tolist(),
            contents.cast(pa.binary()).to_pylist(),
        )

    def _flawed(self, flat: "_Flat", starts: Times) -> pa.Array:
        """For each object what stands behind the values: nothing, or the qualities not good."""
        texts: np.ndarray[Any, np.dtype[np.object_]] = np.full(len(starts), "", object)
        places = np.flatnonzero(flat.qualities)
        if len(places):
            which = np.searchsorted(starts, places, side="right") - 1
            first = np.flatnonzero(np.diff(which, prepend=-1))
            keys = self._keys.take(flat.columns[places])
            words = QUALITY_TEXTS.take(flat.qualities[places])
            pairs = pc.binary_join_element_wise(keys, words, "")
            joined_pairs = join_runs(pairs, first)
            texts[which[first]] = pc.binary_join_element_wise(
                f',"{QUALITY}":{{', joined_pairs, "}", ""
            ).to_pylist()
        return pa.array(texts, pa.string())


class _Flat(NamedTuple):
    """Samples of all kinds, their values as JSON."""

    columns: Times
    times: Times
    qualities: Octets
    offsets: Times
    receive_ns: Times
    texts: pa.Array

    @classmethod
    def of(cls, whole: list[Samples], chosen: Chosen) -> "_Flat":
        return cls(
            np.concatenate([chosen.places(one.indices) for one in whole]).astype(np.int64),
            np.concatenate([one.times for one in whole]),
            np.concatenate([one.qualities for one in whole]),
            np.concatenate([one.offsets for one in whole]),
            np.concatenate([one.receive_ns for one in whole]),
            pa.concat_arrays([json_texts(one.kind, one.values) for one in whole]),
        )

    def take(self, order: Times) -> "_Flat":
        return _Flat(
            self.columns[order],
            self.times[order],
            self.qualities[order],
            self.offsets[order],
            self.receive_ns[order],
            self.texts.take(pa.array(order)),
        )


def _again(flat: _Flat) -> Times:
    """How often the message had the parameter with the same time before: an object has it once."""
    order = np.lexsort((flat.times, flat.columns, flat.offsets))
    starts = _starts(flat.offsets[order], flat.columns[order], flat.times[order])
    counts = np.diff(starts, append=len(order))
    again = np.empty(len(order), np.int64)
    again[order] = np.arange(len(order)) - np.repeat(starts, counts)
    return again


def _starts(*keys: Times) -> Times:
    """Where a run of equal keys begins."""
    changes = np.zeros(len(keys[0]), np.bool_)
    changes[:1] = True
    for key in keys:
        changes[1:] |= key[1:] != key[:-1]
    return np.flatnonzero(changes)


def _schema(parameter: Parameter) -> dict[str, Any]:
    made: dict[str, Any] = {"type": _json_type(parameter.kind)}
    if parameter.kind is Kind.BYTES:
        made["contentEncoding"] = "base64"
    if parameter.labels:
        made["oneOf"] = [
            {"const": number, "title": label} for number, label in sorted(parameter.labels.items())
        ]
    words = {"description": parameter.description, "unit": parameter.unit}
    return made | {key: word for key, word in words.items() if word}


def _json_type(kind: Kind) -> str:
    if kind in {Kind.TEXT, Kind.BYTES}:
        return "string"
    if kind is Kind.BOOL:
        return "boolean"
    return "integer" if kind.is_integer else "number"

"""The parameters of a journal by index, for decoding: what never changes for an index."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from slipring.journal.location import OpenJournal
from slipring.native import match_topics

WILDCARDS = frozenset("+#")


@dataclass(frozen=True)
class KnownParameters:
    """Names, types and units by index, as Arrow columns; and the same as text for the decoder."""

    json: str
    edition: tuple[int, int, int]
    """Two with the same edition are equal: table, revision, epoch."""
    names: pa.StringArray
    """By index; empty where there is no parameter."""
    kinds: pa.DictionaryArray
    units: pa.DictionaryArray

    @classmethod
    def of(cls, journal: OpenJournal) -> "KnownParameters":
        """What a journal defines now, with removed parameters."""
        return cls.of_json(journal.definitions())

    @classmethod
    def of_json(cls, text: str) -> "KnownParameters":
        """From the definitions of a journal. Of several with one index any one will do."""
        listed: dict[str, Any] = json.loads(text)
        by_index = {row["index"]: row for row in listed["versions"]}
        every = [by_index.get(index, {}) for index in range(max(by_index, default=-1) + 1)]
        return cls(
            text,
            (listed["table"], listed["revision"], listed["epoch"]),
            pa.array([row.get("name", "") for row in every], pa.string()),
            pa.array([row.get("type", "") for row in every], pa.string()).dictionary_encode(),
            pa.array([row.get("unit") for row in every], pa.string()).dictionary_encode(),
        )

    def chosen(self, filters: Sequence[str]) -> bytes | None:
        """A byte for each index: 1 if a filter matches its name. None for all."""
        if not filters:
            return None
        # Thousands of plain names are looked up rather than matched one by one.
        plain = {one for one in filters if not set(one) & WILDCARDS}
        names = self.names.to_pylist()
        matched = match_topics([one for one in filters if one not in plain], names)
        return bytes(
            is_matched or name in plain for is_matched, name in zip(matched, names, strict=True)
        )

    def parameter(self, index: pa.Array, *, as_text: bool) -> pa.Array:
        """The names of these indices."""
        # The index of a parameter is its position in the dictionary.
        return self.names.take(index) if as_text else _dictionary(index, self.names)

    def kind(self, index: pa.Array, *, as_text: bool) -> pa.Array:
        """The types of these indices."""
        return _by_code(self.kinds, index, as_text=as_text)

    def unit(self, index: pa.Array, *, as_text: bool) -> pa.Array:
        """The units of these indices."""
        return _by_code(self.units, index, as_text=as_text)


def _by_code(known: pa.DictionaryArray, index: pa.Array, *, as_text: bool) -> pa.Array:
    codes = known.indices.take(index)
    return known.dictionary.take(codes) if as_text else _dictionary(codes, known.dictionary)


def _dictionary(codes: pa.Array, texts: pa.Array) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(codes, texts)

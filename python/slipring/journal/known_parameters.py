"""The parameters of a journal by index, for decoding: what never changes for an index."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from slipring.errors import JournalError
from slipring.journal.location import JournalFolder, JournalLocation, OpenJournal
from slipring.native import journal_table, match_topics

NOTHING = '{"table":0,"parameters":[]}'


@dataclass(frozen=True)
class KnownParameters:
    """Names, types and units by index, as Arrow columns; and the same as text for the decoder."""

    json: str
    names: pa.StringArray
    """By index; empty where there is no parameter."""
    kinds: pa.DictionaryArray
    units: pa.DictionaryArray

    @classmethod
    def of_json(cls, text: str) -> "KnownParameters":
        """From the definitions of a journal or a broker."""
        listed = json.loads(text)
        rows: list[dict[str, Any]] = listed.get("versions") or listed.get("parameters") or []
        by_index = {row["index"]: row for row in rows}
        every = [by_index.get(index, {}) for index in range(max(by_index, default=-1) + 1)]
        return cls(
            text,
            pa.array([row.get("name", "") for row in every], pa.string()),
            pa.array([row.get("type", "") for row in every], pa.string()).dictionary_encode(),
            pa.array([row.get("unit") for row in every], pa.string()).dictionary_encode(),
        )

    def chosen(self, filters: Sequence[str]) -> bytes | None:
        """A byte for each index: 1 if a filter matches its name. None for all."""
        if not filters:
            return None
        return bytes(match_topics(filters, self.names.to_pylist()))

    def parameter(self, index: pa.Array, *, as_text: bool) -> pa.Array:
        """The names of these indices."""
        return self._looked_up(self.names, index, as_text=as_text)

    def kind(self, index: pa.Array, *, as_text: bool) -> pa.Array:
        """The types of these indices."""
        return _by_code(self.kinds, index, as_text=as_text)

    def unit(self, index: pa.Array, *, as_text: bool) -> pa.Array:
        """The units of these indices."""
        return _by_code(self.units, index, as_text=as_text)

    @staticmethod
    def _looked_up(texts: pa.Array, index: pa.Array, *, as_text: bool) -> pa.Array:
        # The index of a parameter is its position in the dictionary.
        return texts.take(index) if as_text else pa.DictionaryArray.from_arrays(index, texts)


def _by_code(known: pa.DictionaryArray, index: pa.Array, *, as_text: bool) -> pa.Array:
    codes = known.indices.take(index)
    if as_text:
        return known.dictionary.take(codes)
    return pa.DictionaryArray.from_arrays(codes, known.dictionary)


def known_parameters(location: JournalLocation, journal: OpenJournal) -> KnownParameters:
    """What a journal defines now, with removed parameters."""
    del journal
    if not isinstance(location, JournalFolder):
        raise JournalError("samples are read from a folder only")
    text, _, _ = journal_table(location.path)
    return KnownParameters.of_json(text or NOTHING)


def empty_index() -> pa.Array:
    """No indices."""
    return pa.array(np.zeros(0, np.int32))

"""The labels of all enumerations of a table, looked up for many samples at once."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from slipring.frames.arrays import Values

NO_SET = -1


class Labels:
    """Parameters with equal labels share a set; a key is the set and the number."""

    def __init__(self) -> None:
        self._sets: dict[tuple[tuple[int, str], ...], int] = {}
        self._found: dict[int, str] = {}
        self._keys: np.ndarray[Any, np.dtype[np.uint64]] = np.empty(0, np.uint64)
        self._labels: Values = np.empty(0, object)

    def set_of(self, labels: Mapping[int, str] | None) -> int:
        """The number of this set of labels."""
        if not labels:
            return NO_SET
        pairs = tuple(sorted(labels.items()))
        if pairs not in self._sets:
            number = self._sets[pairs] = len(self._sets)
            self._found.update({_key(number, value): label for value, label in pairs})
        return self._sets[pairs]

    def look_up(self, sets: "np.ndarray[Any, np.dtype[np.int32]]", numbers: Values) -> Values:
        """The label of each number, None if it has none; `sets` has the set of each number."""
        self._sort()
        found: Values = np.full(len(numbers), None, object)
        if not len(self._keys):
            return found
        keys = sets.astype(np.uint64) << np.uint64(32) | numbers.astype(np.uint64)
        positions = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        hits = (sets != NO_SET) & (self._keys[positions] == keys)
        found[hits] = self._labels[positions[hits]]
        return found

    def _sort(self) -> None:
        if len(self._keys) != len(self._found):
            pairs = sorted(self._found.items())
            self._keys = np.array([key for key, _ in pairs], np.uint64)
            self._labels = np.array([label for _, label in pairs], object)


def _key(number: int, value: int) -> int:
    return number << 32 | value

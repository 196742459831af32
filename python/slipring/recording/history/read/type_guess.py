"""The types of a text file's columns, guessed from all values: the narrowest that fits. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from slipring.model import Parameter
from slipring.recording.history.read.value_parsing import parse_values

TRUTH_WORDS = pa.array(["true", "false", "True", "False", "TRUE", "FALSE"])
WIDER = {"bool": "text", "i64": "f64", "f64": "text"}
NUMBER = r"^\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*$|^\s*[-+]?(?i:nan|inf|infinity)\s*$"
NARROWEST_FIRST = ("bool", "i64", "f64", "text")


@dataclass
class NumberCount:
    """How many values of a column are numbers, and the first value that is not."""

    values: int = 0
    numbers: int = 0
    row: int = -1
    """Of the first value that is not a number; -1 if all are numbers."""
    text: str = ""

    @property
    def is_doubtful(self) -> bool:
        """Whether most values are numbers, so that the others are probably mistakes."""
        return self.row >= 0 and 2 * self.numbers > self.values


class TypeGuesses:
    """Gets more and more values; a type only ever becomes wider."""

    def __init__(self) -> None:
        self._types: dict[str, str] = {}
        self._counts: dict[str, NumberCount] = {}

    def add(self, column: str, texts: pa.Array, first: int = 0) -> None:
        """Take the values of a column from row `first` on; null is not a value."""
        present = texts.drop_null()
        if not len(present):
            return
        found = self._types.get(column) or next(
            one for one in NARROWEST_FIRST if _fits(one, present)
        )
        while not _fits(found, present):
            found = WIDER[found]
        self._types[column] = found
        self._count(self._counts.setdefault(column, NumberCount()), texts, len(present), first)

    def _count(self, count: NumberCount, texts: pa.Array, values: int, first: int) -> None:
        is_number = pc.match_substring_regex(texts, NUMBER)
        count.values += values
        count.numbers += pc.sum(is_number).as_py() or 0
        if count.row < 0 and (position := pc.index(is_number, value=False).as_py()) >= 0:
            count.row, count.text = first + position, texts[position].as_py()

    def found(self) -> Mapping[str, Parameter]:
        """The guessed definitions of all columns that had values."""
        return {column: Parameter(found) for column, found in self._types.items()}

    def doubtful(self) -> Mapping[str, NumberCount]:
        """The columns that are text only because a few of their values are not numbers."""
        texts = (column for column, found in self._types.items() if found == "text")
        return {one: self._counts[one] for one in texts if self._counts[one].is_doubtful}


def _fits(word: str, texts: pa.Array) -> bool:
    """Whether all texts are values of a type."""
    if word == "text":
        return True
    if word == "bool":
        return bool(pc.all(pc.is_in(texts, TRUTH_WORDS)).as_py())
    return not np.any(parse_values(Parameter(word), texts).is_wrong)

"""What the columns of a text file are, by all their values: the narrowest type that fits. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from slipring.model import Parameter
from slipring.recording.history.texts import parse

WORDS = pa.array(["true", "false", "True", "False", "TRUE", "FALSE"])
WIDER = {"bool": "text", "i64": "f64", "f64": "text"}
NUMBER = r"^\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*$|^\s*[-+]?(?i:nan|inf|infinity)\s*$"
FIRST = ("bool", "i64", "f64", "text")


@dataclass
class Odd:
    """Texts in a column of numbers."""

    values: int = 0
    numbers: int = 0
    row: int = -1
    """Of the first that is no number; -1 where all are."""
    text: str = ""

    @property
    def is_doubtful(self) -> bool:
        """Most values are numbers, so that the others are probably mistakes."""
        return self.row >= 0 and 2 * self.numbers > self.values


class Guesses:
    """Looks at more and more values; a type only ever gets wider."""

    def __init__(self) -> None:
        self._types: dict[str, str] = {}
        self._odd: dict[str, Odd] = {}

    def add(self, column: str, texts: pa.Array, first: int = 0) -> None:
        """Look at values of a column, from the row `first` on; null is none."""
        there = texts.drop_null()
        if not len(there):
            return
        found = self._types.get(column) or next(one for one in FIRST if fits(one, there))
        while not fits(found, there):
            found = WIDER[found]
        self._types[column] = found
        self._count(self._odd.setdefault(column, Odd()), texts, len(there), first)

    def _count(self, odd: Odd, texts: pa.Array, values: int, first: int) -> None:
        is_number = pc.match_substring_regex(texts, NUMBER)
        odd.values += values
        odd.numbers += pc.sum(is_number).as_py() or 0
        if odd.row < 0 and (place := pc.index(is_number, value=False).as_py()) >= 0:
            odd.row, odd.text = first + place, texts[place].as_py()

    def found(self) -> Mapping[str, Parameter]:
        """The columns that had values."""
        return {column: Parameter(found) for column, found in self._types.items()}

    def doubtful(self) -> Mapping[str, Odd]:
        """Columns that are texts only for a few of their values."""
        texts = (column for column, found in self._types.items() if found == "text")
        return {one: self._odd[one] for one in texts if self._odd[one].is_doubtful}


def fits(word: str, texts: pa.Array) -> bool:
    """Whether all texts are values of a type."""
    if word == "text":
        return True
    if word == "bool":
        return bool(pc.all(pc.is_in(texts, WORDS)).as_py())
    return not np.any(parse(Parameter(word), texts).is_wrong)

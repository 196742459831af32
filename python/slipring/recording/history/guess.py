"""What the columns of a text file are, by all their values: the narrowest type that fits. Pure."""

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from slipring.model import Parameter
from slipring.recording.history.texts import parse

WORDS = pa.array(["true", "false", "True", "False", "TRUE", "FALSE"])
WIDER = {"bool": "text", "i64": "f64", "f64": "text"}
FIRST = ("bool", "i64", "f64", "text")


class Guesses:
    """Looks at more and more values; a type only ever gets wider."""

    def __init__(self) -> None:
        self._types: dict[str, str] = {}

    def add(self, column: str, texts: pa.Array) -> None:
        """Look at values of a column; null is none."""
        there = texts.drop_null()
        if not len(there):
            return
        found = self._types.get(column) or next(one for one in FIRST if fits(one, there))
        while not fits(found, there):
            found = WIDER[found]
        self._types[column] = found

    def found(self) -> Mapping[str, Parameter]:
        """The columns that had values."""
        return {column: Parameter(found) for column, found in self._types.items()}


def fits(word: str, texts: pa.Array) -> bool:
    """Whether all texts are values of a type."""
    if word == "text":
        return True
    if word == "bool":
        return bool(pc.all(pc.is_in(texts, WORDS)).as_py())
    return not np.any(parse(Parameter(word), texts).is_wrong)

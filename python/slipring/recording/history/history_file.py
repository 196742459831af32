"""What a file of samples is to who imports it, whatever its form."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from slipring.model import Parameter, Quality
from slipring.recording.history.patches import Patch

QUALITY = "#quality"
"""Behind a column's name: the column with its qualities."""
EARLIER = re.compile(r".+#(\d+)", re.DOTALL)
"""A name with an index: a parameter whose name another one had later."""
QUALITY_BYTES = {str(Quality.of_byte(byte)): byte for byte in range(256)}


class Block(NamedTuple):
    """Samples of some rows."""

    patches: list[Patch]
    first: int
    """The rows of the file, from 0."""
    end: int
    done: int
    """How far the file is read, in units of its `total`."""


class HistoryFile(Protocol):
    """A file that is read piece by piece; it can be read again."""

    name: str
    total: int | None
    """How much there is to read; None where nobody knows."""
    columns: list[str]
    """The names of its parameters, as it has them."""
    earlier: list[str]
    """Left out: a broker has one parameter of a name, and these had the name before another."""

    def place(self, row: int) -> str:
        """A row's place in words."""

    def known(self) -> Mapping[str, Parameter]:
        """What the file itself says its parameters are."""

    def guessed(self, columns: Sequence[str]) -> Mapping[str, Parameter]:
        """What these are by their values; those without a value are not in it."""

    def blocks(self, types: Mapping[str, Parameter], skip: int) -> Iterator[Block]:
        """The samples of these columns behind the first `skip` rows, in the order of `types`."""

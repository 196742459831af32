"""Texts or byte strings beside each other, as a frame has them: where each ends, and all bytes."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from slipring.frames.arrays import Times, Values


class Strings:
    """Values of a text or bytes run. Python's objects are made when somebody asks for them."""

    def __init__(self, offsets: Times, data: Any, *, is_text: bool) -> None:
        self.offsets = offsets
        """Where each begins, and at last where the last one ends; within 2 GiB."""
        self.data = memoryview(data)
        self.is_text = is_text

    @classmethod
    def of(cls, values: Sequence[str] | Sequence[bytes]) -> "Strings":
        """The same values beside each other."""
        encoded = [one.encode() if isinstance(one, str) else bytes(one) for one in values]
        offsets = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
        is_text = bool(values) and isinstance(values[0], str)
        return cls(offsets, b"".join(encoded), is_text=is_text)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def item(self, position: int) -> str | bytes:
        """One of them."""
        found = bytes(self.data[self.offsets[position] : self.offsets[position + 1]])
        return found.decode() if self.is_text else found

    def to_arrow(self) -> Any:
        """An Arrow array over the same bytes."""
        import pyarrow as pa

        kind = pa.string() if self.is_text else pa.binary()
        offsets = pa.py_buffer(np.ascontiguousarray(self.offsets, dtype=np.int32))
        return pa.Array.from_buffers(kind, len(self), [None, offsets, pa.py_buffer(self.data)])

    def to_numpy(self) -> Values:
        """An array of Python's objects."""
        found: Values = self.to_arrow().to_numpy(zero_copy_only=False)
        return found

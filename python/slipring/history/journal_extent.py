"""How many bytes lie between two offsets of a journal, by the sizes of its files. Reads no file."""

from bisect import bisect_right
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class JournalExtent:
    """The segments of a journal: where each begins, and how many bytes lie before it."""

    bases: tuple[int, ...]
    bytes_before: tuple[int, ...]
    """One more than there are segments: the last one is the size of all."""
    end: int
    """The offset of the next message."""

    @classmethod
    def of(cls, folder: Path, end: int) -> "JournalExtent":
        """The journal in a folder, which ends at an offset."""
        sizes: dict[int, int] = {}
        for file in folder.glob("*.seg"):
            try:
                base, size = int(file.name[:20]), file.stat().st_size
            except (ValueError, FileNotFoundError):  # another file; or retention was faster
                continue
            sizes[base] = sizes.get(base, 0) + size
        bases = tuple(sorted(sizes))
        before = [0]
        for base in bases:
            before.append(before[-1] + sizes[base])
        return cls(bases, tuple(before), end)

    def bytes_between(self, start: int, end: int) -> int:
        """About how many bytes the messages [start, end) take."""
        return max(0, round(self._position(end) - self._position(start)))

    def _position(self, offset: int) -> float:
        place = bisect_right(self.bases, offset) - 1
        if place < 0:
            return 0.0
        ends = self.bases[place + 1] if place + 1 < len(self.bases) else max(self.end, offset)
        count = max(1, ends - self.bases[place])
        size = self.bytes_before[place + 1] - self.bytes_before[place]
        return self.bytes_before[place] + size * min(1.0, (offset - self.bases[place]) / count)

"""What to say when the broker refuses a replayed message because a right is missing."""

from collections import deque
from collections.abc import Callable, Iterable
from itertools import takewhile
from shlex import quote
from typing import TYPE_CHECKING

from slipring.errors import PublishRefused

if TYPE_CHECKING:
    import pyarrow as pa

NOT_AUTHORIZED = 0x87


class SentPieces:
    """The messages that were sent and may still be refused."""

    def __init__(self, settled: Callable[[], int]) -> None:
        """`settled` is how many messages the broker has answered, from the first on."""
        self._settled = settled
        self._pieces: deque[tuple[int, pa.RecordBatch]] = deque()
        self._end = 0

    def add(self, rows: "pa.RecordBatch") -> None:
        """Remember messages that are sent next, and forget those that were answered."""
        settled = self._settled()
        while self._pieces and self._pieces[0][0] + self._pieces[0][1].num_rows <= settled:
            self._pieces.popleft()
        self._pieces.append((self._end, rows))
        self._end += rows.num_rows

    def missing(self, refused: PublishRefused, who: str, parameters: Iterable[str]) -> str:
        """Which right is missing and what would give it; empty if it was refused otherwise.

        `parameters` are those that the replay has declared: a frame is about some of them.
        """
        if refused.code != NOT_AUTHORIZED:
            return ""
        for start, rows in self._pieces:
            at = refused.index - start
            if 0 <= at < rows.num_rows:
                return _missing(rows.slice(at, 1), who, parameters)
        return ""


def _missing(row: "pa.RecordBatch", who: str, parameters: Iterable[str]) -> str:
    from slipring.recording.history.read.recorded_messages import RecordedMessages

    is_frame = RecordedMessages(row).is_frame[0]
    topic = covering(parameters) if is_frame else row.column("topic")[0].as_py()
    rights = ["replay", "retain"] if row.column("retain")[0].as_py() else ["replay"]
    named = " and ".join(f"`{right}`" for right in rights)
    rule = f"{quote(who)} {','.join(rights)} {quote(topic)}"
    return (
        f"; to play a recording again, {who} needs the right {named} on {topic!r}; "
        f"this gives it: slipring access grant {rule}"
    )


def covering(names: Iterable[str]) -> str:
    """The narrowest filter that matches all these topics."""
    topics = [name.split("/") for name in names]
    columns = takewhile(lambda column: len(set(column)) == 1, zip(*topics, strict=False))
    common = [column[0] for column in columns]
    is_one = common and all(topic == common for topic in topics)
    return "/".join(common if is_one else [*common, "#"])

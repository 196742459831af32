"""Events of limits as alarms on the bus, each once. Must never import pyspark."""

import pyarrow as pa
import pyarrow.compute as pc

from slipring.lake.specs import EVENTS
from slipring.lake.storage import LakeLocation
from slipring.lake.table import LakeTable, app_id
from slipring.publication.publisher import BatchPublisher

PREFIX = "alarms"
"""The first level of the topics of alarms."""


class LimitAlarms:
    """Publishes what the table `events` has and the bus does not.

    The number of a batch is the offset at which it ends. So a process that was killed between the
    commit and the alarms publishes them at its next start.
    """

    def __init__(self, lake: LakeLocation, journal: str, publisher: BatchPublisher | None) -> None:
        self._journal = journal
        self._publisher = publisher
        self._events = LakeTable.open(lake, EVENTS)
        if publisher is not None:
            # What is under way ends first: the next batch may end before it did.
            publisher.recover()
            self.publish(self._events.committed(app_id(journal)) or 0)

    def publish(self, end: int) -> None:
        """Publish the events of the offsets before `end`."""
        if self._publisher is None or end <= self._publisher.finished():
            return
        since = max(0, self._publisher.finished())
        self._events.delta.update_incremental()
        found = self._events.delta.to_pyarrow_table(
            filters=[
                ("journal", "=", self._journal),
                ("offset", ">=", since),
                ("offset", "<", end),
            ]
        )
        if found.num_rows:
            rows = _alarms(found.sort_by("offset"))
            self._publisher.publish(end, lambda: rows)

    def close(self) -> None:
        """End the connection."""
        if self._publisher is not None:
            self._publisher.close()


def _alarms(events: pa.Table) -> pa.Table:
    """Events with their topics: each limit has one, whose newest message is its state."""
    names = (events.column("parameter"), events.column("limit"))
    topics = pc.binary_join_element_wise(pa.scalar(PREFIX), *names, "/")
    return events.drop_columns(["journal", "receive_date"]).append_column("topic", topics)

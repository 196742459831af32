"""Value types: what travels on the bus. Standard library only; never does I/O."""

from slipring.model.answer import Answer
from slipring.model.hops import Hops
from slipring.model.kind import Kind
from slipring.model.message import ConnectionChange, Message
from slipring.model.parameter import AlarmLimits, Entry, Parameter
from slipring.model.quality import GOOD, Quality, Reason, Status
from slipring.model.sample import Sample, Value
from slipring.model.stream import Chunk, Stream
from slipring.model.table_change import Refusal, TableChange

__all__ = [
    "GOOD",
    "AlarmLimits",
    "Answer",
    "Chunk",
    "ConnectionChange",
    "Entry",
    "Hops",
    "Kind",
    "Message",
    "Parameter",
    "Quality",
    "Reason",
    "Refusal",
    "Sample",
    "Status",
    "Stream",
    "TableChange",
    "Value",
]

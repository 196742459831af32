"""The name that each message of a batch carries, so that it is recognised in the journal. Pure.

It is SINK/BATCH/PART in the user property `slipring-part`: `6f0c.../17/3` is the fourth message of
batch 17. A barrier has a word that no other message has in place of the number.
"""

from collections.abc import Sequence

import pyarrow as pa

from slipring.native import decode_properties, encode_properties

PROPERTY = "slipring-part"

Properties = list[tuple[str, object]]


def part_name(sink: str, batch: int, part: int | str) -> str:
    """The name of one message of a batch."""
    return f"{sink}/{batch}/{part}"


def with_parts(properties: Sequence[Properties], sink: str, batch: int) -> pa.Array:
    """The encoded properties of the messages of a batch, each with its name."""
    encoded = [
        encode_properties([*some, ("user", (PROPERTY, part_name(sink, batch, part)))])
        for part, some in enumerate(properties)
    ]
    return pa.array(encoded, pa.binary())


def name_in(encoded: bytes) -> str | None:
    """The name that a message carries; None if it has none."""
    for name, value in decode_properties(encoded):
        if name == "user" and value[0] == PROPERTY:
            found: str = value[1]
            return found
    return None

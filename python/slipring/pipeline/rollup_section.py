"""`[pipeline.rollup]`: how late a sample may be and still correct its window."""

from pydantic import Field

from slipring.alarms import LengthNs
from slipring.pipeline.section import PipelineSection

DAY_NS = 86_400_000_000_000
SECOND_NS = 1_000_000_000


class RollupSection(PipelineSection):
    """Rollups of 1 s, 1 min and 1 h."""

    late: LengthNs = Field(
        DAY_NS,
        description="How long after the end of a window its samples may be received. Later ones "
        "go to the table `rollup_late`.",
        examples=["1d"],
    )
    minutes_every: LengthNs = Field(
        5 * SECOND_NS, description="How often the windows of 1 min are written, at most."
    )
    rows_open_max: int = Field(
        1_000_000,
        ge=1,
        description="Rows of each table that are kept in memory, about 200 bytes each. Older "
        "windows are read back from the lake when late samples correct them.",
    )
    hours_every: LengthNs = Field(
        30 * SECOND_NS, description="How often the windows of 1 h are written, at most."
    )

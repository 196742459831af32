"""`[pipeline.latency]`: how often ages of samples and intervals of arrivals are written."""

from pydantic import Field

from slipring.alarms import LengthNs
from slipring.pipeline.section import PipelineSection


class LatencySection(PipelineSection):
    """Ages of samples at each hop by publisher, and intervals of arrivals by subscriber."""

    every: LengthNs = Field(5_000_000_000, description="How often the table is written, at most.")
    rows_open_max: int = Field(
        100_000,
        ge=1,
        description="Rows (publishers, hops and minutes) that are kept in memory, up to 20 KB "
        "each.",
    )
    subscriptions_max: int = Field(
        10_000,
        ge=1,
        description="Subscriptions of one minute in the table subscriptions; more are set aside.",
    )

"""`[pipeline.latency]`: how often ages of samples are written."""

from pydantic import Field

from slipring.pipeline.section import LengthNs, PipelineSection


class LatencySection(PipelineSection):
    """Ages of samples at each hop, by publisher and minute."""

    every: LengthNs = Field(5_000_000_000, description="How often the table is written, at most.")
    rows_open_max: int = Field(
        100_000,
        ge=1,
        description="Rows (publishers, hops and minutes) that are kept in memory, up to 20 KB "
        "each.",
    )

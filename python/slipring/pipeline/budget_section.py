"""`[pipeline.budget]`: which messages belong to a vehicle, and how much it may send in a day."""

from typing import Literal

from pydantic import Field, field_validator

from slipring.alarms import LengthNs
from slipring.pipeline.section import PipelineSection
from slipring.pipeline.vehicle_pattern import vehicle_expression

MEGABYTE = 1_000_000


class BudgetSection(PipelineSection):
    """The data cap of vehicles."""

    vehicle: str = Field(
        "fleet/{vehicle}/#",
        description="Where the name of a vehicle is: `{vehicle}` in one level, `+` for any level, "
        "`#` at the end for all below.",
        examples=["fleet/{vehicle}/#"],
    )
    of: Literal["topic", "publisher"] = Field(
        "topic", description="Whether the pattern is about topics or about publishers."
    )
    cap_bytes: int = Field(
        10 * MEGABYTE, gt=0, description="How much a vehicle may send in a UTC day."
    )
    overhead_bytes: int = Field(
        0, ge=0, description="What each message costs beside its payload and its topic."
    )
    every: LengthNs = Field(10_000_000_000, description="How often the table is written, at most.")
    rows_open_max: int = Field(
        1_000_000,
        ge=1,
        description="Rows (vehicles and days) that are kept in memory, about 400 bytes each.",
    )

    @field_validator("vehicle")
    @classmethod
    def _has_a_vehicle(cls, given: str) -> str:
        vehicle_expression(given)
        return given

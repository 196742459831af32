"""`[pipeline.archive]`: which tables there are, and how long their rows are kept."""

from typing import Literal

from pydantic import Field, field_validator

from slipring.lake.retention import Keep
from slipring.lake.specs import TABLES
from slipring.pipeline.section import PipelineSection

ArchivedTable = Literal["samples", "frames", "messages"]


class ArchiveSection(PipelineSection):
    """The tables of the archive, and the care for all tables of the lake."""

    tables: tuple[ArchivedTable, ...] = Field(
        ("samples", "frames", "messages"), description="What is carried into the lake."
    )
    keep: dict[str, str] = Field(
        {},
        description="How much of a table is kept, by its name: an age (12h, 30d, 8w) or a size "
        "(500MB, 200GB). Everything, if nothing is said.",
        examples=[{"samples": "30d", "messages": "200GB"}],
    )
    history_hours: int = Field(
        1, ge=1, description="How long earlier versions of a table can be read."
    )
    compact: bool = Field(
        True, description="Whether small files are put together in the background."
    )

    @field_validator("keep")
    @classmethod
    def _is_known(cls, given: dict[str, str]) -> dict[str, str]:
        if unknown := sorted(given.keys() - TABLES.keys()):
            raise ValueError(
                f"the lake has no table {', '.join(unknown)}; there are {', '.join(sorted(TABLES))}"
            )
        for text in given.values():
            Keep.of(text)
        return given

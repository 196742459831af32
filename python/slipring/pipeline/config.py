"""The section `[pipeline]` of the configuration file: what the jobs of the pipeline do.

The broker reads the same file and leaves this section alone. Quick to import: no Spark.
"""

import tomllib
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from slipring.errors import ConfigError
from slipring.pipeline.archive_section import ArchiveSection
from slipring.pipeline.broker_section import BrokerSection
from slipring.pipeline.budget_section import BudgetSection
from slipring.pipeline.derive_section import DeriveSection
from slipring.pipeline.latency_section import LatencySection
from slipring.pipeline.limits_section import LimitsSection
from slipring.pipeline.rollup_section import RollupSection
from slipring.pipeline.section import PipelineSection

SECTION = "pipeline"


class PipelineConfig(PipelineSection):
    """The jobs of the pipeline."""

    archive: ArchiveSection = Field(
        ArchiveSection(), description="The tables of the archive, and how long rows are kept."
    )
    derive: dict[str, DeriveSection] = Field(
        {}, description="Parameters that are computed from others, by name."
    )
    rollup: RollupSection = Field(RollupSection(), description="Rollups of 1 s, 1 min and 1 h.")
    limits: LimitsSection = Field(LimitsSection(), description="Events at limits.")
    latency: LatencySection = Field(LatencySection(), description="Ages of samples at each hop.")
    budget: BudgetSection = Field(BudgetSection(), description="The data cap of vehicles.")
    broker: BrokerSection = Field(
        BrokerSection(), description="What the jobs prove their name with."
    )


def load_pipeline(file: Path) -> PipelineConfig:
    """The section of a TOML file, or its defaults; ConfigError names every mistake."""
    try:
        with file.open("rb") as stream:
            values = tomllib.load(stream)
    except OSError as error:
        raise ConfigError(f"cannot read the config file {file}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file} is not valid TOML: {error}") from None
    return parse_pipeline(values.get(SECTION, {}), str(file))


def parse_pipeline(values: Any, where: str = "configuration") -> PipelineConfig:
    """Check the values of the section; ConfigError names every mistake."""
    try:
        return PipelineConfig.model_validate(values)
    except ValidationError as error:
        mistakes = "; ".join(_explained(one) for one in error.errors(include_url=False))
        raise ConfigError(f"{where}: {mistakes}") from None


def _explained(mistake: Any) -> str:
    key = ".".join(map(str, (SECTION, *mistake["loc"])))
    if mistake["type"] == "extra_forbidden":
        return f"{key}: there is no such key"
    return f"{key}: {mistake['msg'].removeprefix('Value error, ')}"

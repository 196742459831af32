"""The base of every table below `[pipeline]`."""

from typing import ClassVar

from pydantic import BaseModel, ConfigDict


class PipelineSection(BaseModel):
    """A table of the file. An unknown key is an error."""

    model_config: ClassVar[ConfigDict] = ConfigDict(
        extra="forbid", frozen=True, str_strip_whitespace=True
    )

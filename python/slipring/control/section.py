"""The base of every table of the configuration."""

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """A table of the file. An unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)

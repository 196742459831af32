"""What every table of the configuration has in common."""

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """A table of the file. A key that is not known is an error, not a wish."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)

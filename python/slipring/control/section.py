"""A table of the config file: what all of them have in common."""

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """A table of the file. A key that is not known is an error, not a wish."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)

"""The base of every table of the configuration, and the bounds of its numbers."""

from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field


class Section(BaseModel):
    """A table of the file. An unknown key is an error."""

    model_config: ClassVar[ConfigDict] = ConfigDict(
        extra="forbid", frozen=True, str_strip_whitespace=True
    )


def between(least: int, most: int) -> Any:
    """The bounds of a number, for `Annotated`; it may be equal to either of them."""
    return Field(ge=least, le=most)

"""A layout: widgets on a grid of 12 columns, with a bound for every part. Reads no file."""

import json
import math
import re
from typing import Annotated, Any, ClassVar, Literal, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from slipring.errors import SlipringError

COLUMNS = 12
ROWS_MAX = 500
HEIGHT_MAX = 40
WIDGETS_MAX = 60
NAMES_MAX = 24
"""Parameters of one widget."""
NAME_BYTES_MAX = 1_024
"""Bytes of a parameter's name in a layout."""
TITLE_MAX = 100
OPTIONS_MAX = 32
OPTIONS_CHARACTERS_MAX = 16_384
"""Characters of the options of one widget, as JSON; its names are among them."""
OPTIONS_DEPTH_MAX = 4
LAYOUT_BYTES_MAX = 256 * 1024

WidgetKind = Literal["plot", "gauge", "number", "xy", "states", "log", "broker", "table"]
KINDS: tuple[WidgetKind, ...] = get_args(WidgetKind)
NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
READY_MADE = ("flight", "engine", "fleet", "broker")
"""Names of layouts that the console makes from what is declared; nobody can change them."""
A_LAYOUT = (
    'send JSON: {"title": "Climb", "widgets": [{"kind": "gauge", "title": "", "x": 0, "y": 0, '
    '"w": 3, "h": 4, "options": {"names": ["jet/engine/rpm"]}}]}'
)


class LayoutError(SlipringError):
    """A layout cannot be kept or read; the message says why."""


def _is_printable(text: str) -> str:
    if not text.isprintable():
        raise ValueError("has a control character, or one that changes the direction of text")
    return text


Title = Annotated[str, Field(max_length=TITLE_MAX), AfterValidator(_is_printable)]


class LayoutWidget(BaseModel):
    """One widget: where it stands, and what its kind is told."""

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid", strict=True)

    kind: WidgetKind
    title: Title = ""
    x: Annotated[int, Field(ge=0, lt=COLUMNS)]
    y: Annotated[int, Field(ge=0, lt=ROWS_MAX)]
    w: Annotated[int, Field(ge=1, le=COLUMNS)]
    h: Annotated[int, Field(ge=1, le=HEIGHT_MAX)]
    options: Annotated[dict[str, Any], Field(max_length=OPTIONS_MAX)] = {}

    @model_validator(mode="after")
    def _fits(self) -> "LayoutWidget":
        if self.x + self.w > COLUMNS:
            raise ValueError(f"it ends beyond the {COLUMNS} columns")
        _check_options(self.options)
        return self

    @property
    def names(self) -> list[str]:
        """The parameters that it shows."""
        return list(self.options.get("names", ()))


class Layout(BaseModel):
    """A title, and widgets. They may overlap: the page moves them apart."""

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid", strict=True)

    title: Title = ""
    widgets: Annotated[list[LayoutWidget], Field(max_length=WIDGETS_MAX)]

    @property
    def names(self) -> set[str]:
        """All parameters that it shows."""
        return {name for widget in self.widgets for name in widget.names}


def read_layout(body: bytes | str) -> Layout:
    """A layout from JSON; LayoutError says what is wrong with it, and where."""
    try:
        return Layout.model_validate_json(body)
    except ValidationError as error:
        raise LayoutError(_told(error)) from None


def checked_name(name: str) -> str:
    """The name of a layout, which is that of its file; LayoutError if it cannot be one."""
    if NAME.fullmatch(name) is None:
        raise LayoutError(
            "the name of a layout has 1 to 64 characters of a-z, 0-9, - and _, and begins with a "
            "letter or a digit"
        )
    return name


def _told(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    where = ".".join(str(step)[:40] for step in first["loc"])
    return f"{where}: {first['msg']}; {A_LAYOUT}" if where else f"{first['msg']}; {A_LAYOUT}"


def _check_options(options: dict[str, Any]) -> None:
    _check_depth(options, OPTIONS_DEPTH_MAX)
    try:
        size = len(json.dumps(options, allow_nan=False))
    except ValueError:
        raise ValueError("a number in the options is not one of JSON") from None
    if size > OPTIONS_CHARACTERS_MAX:
        raise ValueError(f"the options have more than {OPTIONS_CHARACTERS_MAX} characters")
    names = options.get("names", [])
    if not isinstance(names, list) or len(names) > NAMES_MAX:
        raise ValueError(f"options.names is a list of at most {NAMES_MAX} parameters")
    for name in names:
        if not isinstance(name, str) or not 0 < len(name.encode()) <= NAME_BYTES_MAX:
            raise ValueError(f"a name in options.names has 1 to {NAME_BYTES_MAX} bytes")


def _check_depth(value: Any, left: int) -> None:
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("a number in the options is not one of JSON")
    if not isinstance(value, dict | list):
        return
    if left == 0:
        raise ValueError(f"the options have more than {OPTIONS_DEPTH_MAX} levels")
    for inner in value.values() if isinstance(value, dict) else value:
        _check_depth(inner, left - 1)

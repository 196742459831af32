"""Layouts of plots and other widgets, as the console answers and takes them. Only types."""

from typing import Annotated, Any, TypedDict

from slipring.status.json_schema import Between


class LayoutRow(TypedDict):
    """A layout in the list."""

    name: Annotated[str, "Its name, which is in its address."]
    title: Annotated[str, "Its title."]
    is_ready_made: Annotated[bool, "Whether the console made it; nobody can change it then."]
    changed_ms: Annotated[float | None, "When it was saved."]
    by: Annotated[str | None, "Who saved it."]
    trouble: Annotated[str | None, "Why its file cannot be read."]


class LayoutsMessage(TypedDict):
    """What `/api/layouts` answers."""

    layouts: Annotated[list[LayoutRow], "Ready-made ones first."]


class _WidgetPlace(TypedDict):
    kind: Annotated[str, "`plot`, `gauge`, `number`, `xy`, `states`, `log`, `broker` or `table`."]
    x: Annotated[int, "Its first column of 12.", Between(0, 11)]
    y: Annotated[int, "Its first row.", Between(0, 499)]
    w: Annotated[int, "How many columns it takes.", Between(1, 12)]
    h: Annotated[int, "How many rows it takes.", Between(1, 40)]


class WidgetBody(_WidgetPlace, total=False):
    """A widget, and where it stands."""

    title: Annotated[str, "Its title.", Between(0, 100)]
    options: Annotated[dict[str, Any], "What its kind is told; `names` are its parameters."]


class _Widgets(TypedDict):
    widgets: Annotated[list[WidgetBody], "At most 60.", Between(0, 60)]


class LayoutBody(_Widgets, total=False):
    """A layout to save."""

    title: Annotated[str, "Its title.", Between(0, 100)]


class LayoutMessage(LayoutRow):
    """A layout with its widgets."""

    is_narrowed: Annotated[bool, "Whether parameters that the visitor may not watch are left out."]
    widgets: Annotated[list[WidgetBody], "Its widgets."]


class LayoutSaved(TypedDict):
    """A layout was saved."""

    name: Annotated[str, "Its name."]
    changed_ms: Annotated[float, "When; also the ETag."]
    by: Annotated[str | None, "Who saved it."]


class LayoutRemoved(TypedDict):
    """A layout is gone."""

    removed: Annotated[str, "Its name."]


class LayoutConflictMessage(TypedDict):
    """Somebody else changed the layout meanwhile."""

    conflict: Annotated[str, "What happened."]
    by: Annotated[str | None, "Who changed it."]
    changed_ms: Annotated[float | None, "When."]

"""Whether two topic filters overlap, and whether one covers the other. Pure."""

from typing import Annotated

from pydantic import AfterValidator

from slipring.errors import InvalidTopic
from slipring.native import check_filter

WILDCARDS = ("+", "#")


def _is_filter(text: str) -> str:
    try:
        check_filter(text)
    except InvalidTopic as error:
        raise ValueError(str(error)) from None
    return text


Filter = Annotated[str, AfterValidator(_is_filter)]


def overlap(one: str, other: str) -> bool:
    """Whether some topic matches both filters."""
    if _differ_at_the_dollar(one, other) or _differ_at_the_dollar(other, one):
        return False
    left, right = one.split("/"), other.split("/")
    for here, there in zip(left, right, strict=False):
        if "#" in (here, there):
            return True
        if here != there and "+" not in (here, there):
            return False
    rest = left[len(right) :] or right[len(left) :]
    return rest in ([], ["#"])


def covers(wide: str, narrow: str) -> bool:
    """Whether every topic that matches the narrow filter matches the wide one too."""
    if _differ_at_the_dollar(wide, narrow):
        return False
    wanted, given = wide.split("/"), narrow.split("/")
    for index, level in enumerate(wanted):
        if level == "#":
            return True
        if index == len(given) or given[index] == "#":
            return False
        if level not in ("+", given[index]):
            return False
    return len(wanted) == len(given)


def _differ_at_the_dollar(one: str, other: str) -> bool:
    """A leading wildcard does not match topics that begin with a dollar sign (MQTT-4.7.2-1)."""
    return one.startswith(WILDCARDS) and other.startswith("$")


def hiding(earlier: list[tuple[int, str]], topic: str) -> tuple[int, str] | None:
    """The first of the earlier numbered filters that covers this one, if there is one."""
    return next(((number, wide) for number, wide in earlier if covers(wide, topic)), None)

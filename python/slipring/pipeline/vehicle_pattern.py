"""Where the name of a vehicle is in a topic or a client identifier."""

import re

VEHICLE = "{vehicle}"


def vehicle_expression(pattern: str) -> str:
    """The regular expression of a pattern such as `fleet/{vehicle}/#`; group 1 is the vehicle.

    `+` is one level, `#` at the end any number of them; `{vehicle}` is in one level.
    """
    if pattern.count(VEHICLE) != 1:
        raise ValueError(
            f"a pattern has {VEHICLE} once, as in 'fleet/{VEHICLE}/#', not {pattern!r}"
        )
    levels = []
    for level in pattern.removesuffix("/#").split("/"):
        before, found, after = level.partition(VEHICLE)
        words = "[^/]+" if level == "+" else re.escape(before)
        levels.append(words + ("([^/]+)" + re.escape(after) if found else ""))
    return "^" + "/".join(levels) + ("(?:/.*)?$" if pattern.endswith("/#") else "$")

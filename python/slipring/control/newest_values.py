"""The newest values of any number of parameters, as the engine's table has them.

It answers in parts of bounded size. A value that is larger than an answer may be is left out, and
takes nothing from the others.
"""

import json
from collections.abc import Callable, Sequence
from typing import Any

Ask = Callable[[str, bytes], bytes]
"""`Engine.ask_table`."""
Row = dict[str, Any]


def newest_rows(ask: Ask, names: Sequence[str]) -> dict[str, Row]:
    """The row of each parameter that ever had a value, by its name."""
    found: dict[str, Row] = {}
    groups = [list(names)] if names else []
    while groups:
        group = groups.pop()
        start: int | None = 0
        while start is not None:
            answer = json.loads(ask("values", json.dumps({"names": group, "from": start}).encode()))
            if "error" in answer:  # one value alone has no room; which one, the halves tell
                half = len(group) // 2
                groups += [group[:half], group[half:]] if half else []
                break
            found |= {row["name"]: row for row in answer["values"]}
            start = answer["next"]
    return found

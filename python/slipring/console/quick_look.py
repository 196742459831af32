"""What the first page draws: the plots of the configuration, else the first parameters that have
limits. It shows nobody a parameter that they may not watch, and reads no samples.
"""

import asyncio
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from slipring.console.login_routes import proof_of
from slipring.console.operation import operation
from slipring.console.silence import silent
from slipring.console.visitor import Visitor
from slipring.control import Broker
from slipring.control.console import QUICK_LOOK_PLOTS_MAX
from slipring.status.description import part
from slipring.status.history import QuickLookMessage
from slipring.status.parameters import AlarmBounds, ParameterDefinition

PAGE = 1_000
LOOKED_AT_MAX = 20_000
"""Parameters that are looked at for limits; a table may have more."""
KEPT_MAX = 64
"""Parameters with limits that are kept, so that a visitor who may not watch some has others."""
NUMERIC = frozenset((*(f"{sign}{bits}" for sign in "iu" for bits in (8, 16, 32, 64)), "f32", "f64"))
Json = dict[str, Any]


class QuickLook:
    """Chooses the plots; what it found in the table is kept until the table changes."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self._limited: tuple[int, list[str]] = (-1, [])

    def look(self, visitor: Visitor) -> Json:
        """The plots for a visitor: names, and the definitions of those that are declared."""
        chosen = self._broker.config.console.quick_look
        told_by = "configuration" if chosen else "limits"
        plots = [list(plot) for plot in chosen] or [[name] for name in self._with_limits()]
        seen = self._seen(visitor, [name for plot in plots for name in plot])
        plots = [[name for name in plot if name in seen] for plot in plots]
        plots = [plot for plot in plots if plot][:QUICK_LOOK_PLOTS_MAX]
        names = [name for plot in plots for name in plot]
        return {
            "chosen_by": told_by if plots else "nothing",
            "plots": plots,
            "definitions": [one for name in names for one in self._definitions(name)],
        }

    def _seen(self, visitor: Visitor, names: Sequence[str]) -> set[str]:
        may = visitor.may_watch_each(names)
        return {name for name, is_seen in zip(names, may, strict=True) if is_seen}

    def _definitions(self, name: str) -> list[ParameterDefinition]:
        """Empty if nobody has declared it yet."""
        rows = self._ask("list", {"filter": name, "count": 1})["parameters"]
        return [_definition(row) for row in rows]

    def _with_limits(self) -> list[str]:
        revision = self._ask("find", {"names": []})["revision"]
        if self._limited[0] != revision:
            self._limited = (revision, list(self._find()))
        return self._limited[1]

    def _find(self) -> Iterator[str]:
        start: int | None = 0
        looked_at = found = 0
        while start is not None and looked_at < LOOKED_AT_MAX and found < KEPT_MAX:
            page = self._ask("list", {"from": start, "count": PAGE})
            for row in page["parameters"]:
                if row.get("limits") and row["type"] in NUMERIC:
                    found += 1
                    yield row["name"]
            looked_at += len(page["parameters"])
            start = page["next"]

    def _ask(self, name: str, body: Json) -> Json:
        answer: Json = json.loads(self._broker.engine.ask_table(name, json.dumps(body).encode()))
        return answer


def quick_look_route(broker: Broker) -> Route:
    """The route of the quick look."""
    quick_look = QuickLook(broker)
    looking = asyncio.Lock()
    """One at a time: who asks takes one thread from others, not all."""

    @operation("What the first page draws.", QuickLookMessage)
    async def look(request: Request) -> Response:
        if silence := await silent(broker):
            return silence
        visitor = proof_of(request).visitor
        async with looking:
            return JSONResponse(await asyncio.to_thread(quick_look.look, visitor))

    return Route("/api/quick-look", look)


def _definition(row: Json) -> ParameterDefinition:
    """What the engine leaves out is null."""
    told = part(ParameterDefinition, defaultdict(lambda: None, row))
    if told["limits"] is not None:
        told["limits"] = part(AlarmBounds, defaultdict(lambda: None, told["limits"]))
    return told

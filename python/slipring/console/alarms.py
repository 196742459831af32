"""Alarms: listed for whoever may watch their parameters; acknowledged, shelved and commented by
operators. Has no rules of its own.
"""

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from slipring.console.json_body import Refused
from slipring.console.operating import asker, operator_body
from slipring.console.operation import operation
from slipring.console.shown_alarms import ShownAlarms, watched
from slipring.console.visitor import Visitor
from slipring.control import Broker
from slipring.control.alarm import COMMENT_CHARACTERS_MAX, Alarm
from slipring.errors import AlarmError
from slipring.status.alarms import AlarmsMessage
from slipring.status.answers import AlarmsDone
from slipring.status.asked import (
    AcknowledgeBody,
    AlarmIdsBody,
    AlarmsQuery,
    CommentBody,
    ShelveBody,
)

NAMED_MAX = 1_000
"""Alarms of one request, at most."""
NAMED_IN_AUDIT = 5
"""Alarms that a record of the audit names; of the others it has the number."""
SHELVE_S_MAX = 7 * 86_400
ID_CHARACTERS_MAX = 32
NO_IDS = f'send JSON: {{"ids": ["..."]}}, at most {NAMED_MAX} of them\n'
NO_SECONDS = f'send how long: {{"seconds": 600}}, more than 0 and at most {SHELVE_S_MAX}\n'
NO_COMMENT = (
    f'send a text: {{"comment": "..."}}, at most {COMMENT_CHARACTERS_MAX} characters, none of them '
    "a control character\n"
)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What somebody wants to do, with which alarms."""

    alarms: list[Alarm]
    unknown: list[str]
    by: str
    body: dict[str, Any]

    @property
    def comment(self) -> str:
        """What they write; AlarmError if it is no text for an alarm."""
        text = self.body.get("comment", "")
        if not isinstance(text, str) or len(text) > COMMENT_CHARACTERS_MAX or _is_unprintable(text):
            raise AlarmError(NO_COMMENT.strip())
        return text.strip()

    @property
    def seconds(self) -> float:
        """How long; AlarmError if it is no such number."""
        asked = self.body.get("seconds")
        if not isinstance(asked, int | float) or isinstance(asked, bool):
            raise AlarmError(NO_SECONDS.strip())
        if not 0 < asked <= SHELVE_S_MAX:  # what is not a number is not in between either
            raise AlarmError(NO_SECONDS.strip())
        return float(asked)


def alarm_routes(broker: Broker) -> list[BaseRoute]:
    """List alarms, and let operators act on them."""
    board = broker.alarms.board
    shown = ShownAlarms(board)

    @operation("Alarms; unacknowledged and active ones first.", AlarmsMessage, query=AlarmsQuery)
    async def listed(request: Request) -> Response:
        state = request.query_params.get("state")
        return Response(shown.text(state, _visitor(request)), media_type="application/json")

    def acting(name: str, body: type, verb: str, act: Callable[[_Asked, float], str]) -> Route:
        @operation(f"Alarms are {verb}.", AlarmsDone, body=body)
        async def acted(request: Request) -> Response:
            asked = await _asked(request, broker)
            if isinstance(asked, tuple):
                return PlainTextResponse(*asked)
            try:
                how = act(asked, time.time() * 1e3)
            except AlarmError as error:
                return PlainTextResponse(f"{error}\n", 400)
            if asked.alarms:
                detail = f"{verb} {_names(asked.alarms)}{how}"
                broker.audit("changed", **asker(request), topic="alarms", detail=detail)
                await broker.alarms.save()
            done = [alarm.id for alarm in asked.alarms]
            return JSONResponse({"done": done, "unknown": asked.unknown})

        return Route(f"/api/alarms/{name}", acted, methods=["POST"])

    def acknowledge(asked: _Asked, now_ms: float) -> str:
        comment = asked.comment
        board.acknowledge(asked.alarms, asked.by, now_ms, comment)
        return f": {comment}" if comment else ""

    def shelve(asked: _Asked, now_ms: float) -> str:
        board.shelve(asked.alarms, asked.by, now_ms + asked.seconds * 1e3)
        return f" for {asked.seconds:g} s"

    def unshelve(asked: _Asked, _: float) -> str:
        board.unshelve(asked.alarms)
        return ""

    def comment(asked: _Asked, now_ms: float) -> str:
        if not (text := asked.comment):
            raise AlarmError(NO_COMMENT.strip())
        board.comment(asked.alarms, asked.by, now_ms, text)
        return f": {text}"

    return [
        Route("/api/alarms", listed),
        acting("acknowledge", AcknowledgeBody, "acknowledged", acknowledge),
        acting("shelve", ShelveBody, "shelved", shelve),
        acting("unshelve", AlarmIdsBody, "unshelved", unshelve),
        acting("comment", CommentBody, "commented", comment),
    ]


def _visitor(request: Request) -> Visitor:
    visitor: Visitor = request.scope["proof"].visitor
    return visitor


async def _asked(request: Request, broker: Broker) -> _Asked | Refused:
    body = await operator_body(request, NO_IDS)
    if isinstance(body, tuple):
        return body
    try:
        read: dict[str, Any] = json.loads(body)
        ids = read["ids"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return NO_IDS, 400
    if not isinstance(ids, list) or not 0 < len(ids) <= NAMED_MAX or not all(map(_is_id, ids)):
        return NO_IDS, 400
    ids = [*dict.fromkeys(ids)]
    visitor = _visitor(request)
    alarms = watched(broker.alarms.board.find(ids), visitor)
    known = {alarm.id for alarm in alarms}
    by = visitor.name or f"somebody at {request.client.host if request.client else 'this machine'}"
    return _Asked(alarms, [one for one in ids if one not in known], by, read)


def _is_id(one: object) -> bool:
    return isinstance(one, str) and one.isascii() and len(one) <= ID_CHARACTERS_MAX


def _is_unprintable(text: str) -> bool:
    return not text.replace("\n", " ").isprintable()


def _names(alarms: Sequence[Alarm]) -> str:
    named = ", ".join(f"{alarm.parameter} {alarm.limit}" for alarm in alarms[:NAMED_IN_AUDIT])
    more = len(alarms) - NAMED_IN_AUDIT
    return f"{named} and {more} more" if more > 0 else named

"""Rules and users for an operator: seen without secrets, granted, revoked, explained."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from functools import wraps
from itertools import chain, islice
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from slipring.console.operating import asker, operator_body, refused
from slipring.console.operation import operation
from slipring.console.query import query_of
from slipring.control import Broker
from slipring.control.access_explanation import AccessQuestion, explain_access, rule_row
from slipring.control.access_grants import rule_of, user_of
from slipring.control.access_merge import built_in_rules, named_rules
from slipring.control.access_places import GRANTED, PlacedUser
from slipring.control.users import EXAMPLE_VERIFIER
from slipring.errors import ConfigError
from slipring.status.answers import (
    AccessAnswer,
    AccessExplained,
    RuleGranted,
    RuleRevoked,
    UserAdded,
    UserChanged,
    UserRemoved,
)
from slipring.status.asked import AccessQuery, ExplainQuery, RuleBody, UserBody, UserChangeBody

ROWS_MAX = 1_000
"""Rules, and users, of one answer."""
A_RULE = 'send JSON: {"who": ["role:engineer"], "allow": ["subscribe"], "topics": ["gripen/#"]}\n'
A_USER = 'send JSON: {"name": "anna", "verifier": "SCRAM-SHA-256$...", "roles": ["engineer"]}\n'
A_CHANGE = 'send JSON: {"verifier": "SCRAM-SHA-256$..."}, or {"roles": ["engineer"]}, or both\n'

Answer = Callable[[Request], Awaitable[Response]]
Json = dict[str, Any]


def access_routes(broker: Broker) -> list[BaseRoute]:
    """List, grant, revoke and explain rules; add, change and remove users."""

    @operation("Rules and users, without secrets.", AccessAnswer, query=AccessQuery)
    async def listed(request: Request) -> Response:
        start = query_of(request.query_params, AccessQuery).get("start", 0)
        return JSONResponse(await asyncio.to_thread(access_status, broker, start))

    @operation("Whether somebody may do something, and why.", AccessExplained, query=ExplainQuery)
    async def explained(request: Request) -> Response:
        question = _question(request)
        return JSONResponse(
            asdict(await asyncio.to_thread(explain_access, broker.config, broker.plan, question))
        )

    @operation("Make a rule.", RuleGranted, body=RuleBody)
    async def grant(request: Request) -> Response:
        asked = await _asked(request, A_RULE, {"who", "topics"}, {"allow", "deny"})
        if isinstance(asked, Response):
            return asked
        name = await broker.access.grant(rule_of(**asked), asker(request))
        return _changed(broker, {"rule": name})

    @operation("Remove a rule that was made while running.", RuleRevoked)
    async def revoke(request: Request) -> Response:
        await broker.access.revoke(request.path_params["name"], asker(request))
        return _changed(broker, {"revoked": request.path_params["name"]})

    @operation("Add a user.", UserAdded, body=UserBody)
    async def add_user(request: Request) -> Response:
        asked = await _asked(request, A_USER, {"name", "verifier"}, {"roles"})
        if isinstance(asked, Response):
            return asked
        user = user_of(asked["name"], asked["verifier"], asked.get("roles", ()))
        await broker.access.add_user(user, asker(request))
        return _changed(broker, {"added": user.name})

    @operation("Change the password or the roles of a user.", UserChanged, body=UserChangeBody)
    async def change_user(request: Request) -> Response:
        asked = await _asked(request, A_CHANGE, set(), {"verifier", "roles"})
        if isinstance(asked, Response):
            return asked
        by = asker(request)
        await broker.access.change_user(request.path_params["name"], **_checked(asked), by=by)
        return _changed(broker, {"changed": request.path_params["name"]})

    @operation("Remove a user that was added while running.", UserRemoved)
    async def remove_user(request: Request) -> Response:
        await broker.access.remove_user(request.path_params["name"], asker(request))
        return _changed(broker, {"removed": request.path_params["name"]})

    return [
        _route("/api/access", "GET", listed),
        _route("/api/access/explain", "GET", explained),
        _route("/api/access/rules", "POST", grant),
        _route("/api/access/rules/{name}", "DELETE", revoke),
        _route("/api/access/users", "POST", add_user),
        _route("/api/access/users/{name:path}", "PUT", change_user),
        _route("/api/access/users/{name:path}", "DELETE", remove_user),
    ]


def access_status(broker: Broker, start: int = 0) -> Json:
    """The rules and users from this place in the list on, without secrets."""
    config = broker.config
    named = chain(built_in_rules(), named_rules(config))
    return {
        "version": broker.access.grants.version,
        "is_enforced": config.has_users,
        "wide": config.access.wide,
        "folder": config.access.folder,
        "trouble": broker.access.trouble,
        "warning": broker.access.warning,
        "rules_total": len(list(built_in_rules())) + len(config.access.rule),
        "rules": [rule_row(*one) for one in islice(named, start, start + ROWS_MAX)],
        "users_total": len(config.user),
        "users": [
            {"name": user.name, "roles": user.roles, "where": user.where, "is_granted": _own(user)}
            for user in config.user[start : start + ROWS_MAX]
        ],
    }


def _changed(broker: Broker, done: Json) -> Response:
    """What was done, and the warning if nobody may do it again."""
    warning = broker.access.warning
    return JSONResponse(done | {"warning": warning} if warning else done)


def _own(user: object) -> bool:
    return isinstance(user, PlacedUser) and user.place == GRANTED


def _route(path: str, method: str, answer: Answer) -> Route:
    """A route that only who may administer rights can use."""

    @wraps(answer)
    async def guarded(request: Request) -> Response:
        if refusal := refused(request):
            return PlainTextResponse(*refusal)
        try:
            return await answer(request)
        except ConfigError as error:
            return PlainTextResponse(f"{error}\n", 400)

    return Route(path, guarded, methods=[method])


async def _asked(
    request: Request, not_understood: str, needed: set[str], possible: set[str]
) -> Json | Response:
    """The object that a request sends, with these keys and no others."""
    body = await operator_body(request, not_understood)
    if isinstance(body, tuple):
        return PlainTextResponse(*body)
    asked: Any = None
    try:
        asked = json.loads(body)
        is_understood = isinstance(asked, dict) and needed <= set(asked) <= needed | possible
        json.dumps(asked, ensure_ascii=False).encode()  # half of a surrogate pair is not a name
    except (ValueError, TypeError, RecursionError):
        is_understood = False
    return dict(asked) if is_understood else PlainTextResponse(not_understood, 400)


def _checked(asked: Json) -> Json:
    """The changes of a user, checked as those of a new one are."""
    verifier, roles = asked.get("verifier"), asked.get("roles")
    if verifier is None and roles is None:
        raise ConfigError(A_CHANGE.strip())
    checked = user_of(
        "any",
        EXAMPLE_VERIFIER if verifier is None else verifier,
        () if roles is None else roles,
    )
    return asked if roles is None else asked | {"roles": checked.roles}


def _question(request: Request) -> AccessQuestion:
    asked = request.query_params
    claims = [one.partition("=") for one in asked.getlist("claim")]
    return AccessQuestion(
        user=asked.get("user"),
        right=asked.get("action", ""),
        topic=asked.get("topic", ""),
        roles=tuple(asked.getlist("role")),
        claims=tuple((name, value) for name, _, value in claims),
        client=asked.get("client", ""),
    )

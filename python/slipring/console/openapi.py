"""The description of the HTTP API (OpenAPI 3.1), read from the routes. Has no list of its own."""

import json
import re
from collections.abc import Iterable
from http import HTTPStatus
from typing import Any, get_origin, is_typeddict

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route, WebSocketRoute

from slipring import __version__
from slipring.console.needs import need_of
from slipring.console.operation import REDIRECT, TEXT, Operation, operation, operation_of
from slipring.status.json_schema import (
    Schema,
    asked_fields,
    described_schema,
    plain,
    schema_of,
)

PATH = "/api/openapi.json"
ALWAYS = (400, 401, 403, 429, 503)
"""Codes that each route may answer: for the check of Host, Origin and login, or a busy broker."""
WITH_BODY = (408, 413, 415)
TEXT_CONTENT = {TEXT: {"schema": {"type": "string"}}}
INTRODUCTION = (
    "What a broker shows and does over HTTP. Answers are JSON, refusals a sentence of text. "
    "Without users everybody may read, and only programs of the same machine change something. "
    "With users log in with HTTP basic authentication, a bearer token, or the cookie of the page."
)
SECURITY = {
    "basic": {"type": "http", "scheme": "basic"},
    "token": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"},
}


def openapi_route() -> Route:
    """Answer with the description."""
    made: list[str] = []
    """Made once: the routes stay as they are, and anybody may ask."""

    @operation("This description.", "application/json")
    async def openapi(request: Request) -> Response:
        if not made:
            made.append(document_text(request.app.routes))
        return Response(made[0], media_type="application/json")

    return Route(PATH, openapi)


def document_text(routes: Iterable[BaseRoute]) -> str:
    """The document as it is sent."""
    return json.dumps(document(routes), separators=(",", ":"))


def document(routes: Iterable[BaseRoute]) -> dict[str, Any]:
    """Describe every route that has a description; a test asks for one of each."""
    named: dict[str, Schema] = {}
    paths: dict[str, dict[str, Any]] = {}
    sockets: dict[str, Any] = {}
    for route in routes:
        told = operation_of(getattr(route, "endpoint", None))
        if told is None:
            continue
        if isinstance(route, WebSocketRoute):
            sockets[route.path] = _socket(told, route.path, named)
        elif isinstance(route, Route):
            for method in sorted((route.methods or set()) - {"HEAD"}):
                path = re.sub(r":\w+}", "}", route.path)
                paths.setdefault(path, {})[method.lower()] = _method(told, path, method, named)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Slipring", "version": __version__, "description": INTRODUCTION},
        "paths": dict(sorted(paths.items())),
        "x-websockets": dict(sorted(sockets.items())),
        "components": {"schemas": dict(sorted(named.items())), "securitySchemes": SECURITY},
        "security": [{}, *({name: []} for name in SECURITY)],
    }


def _method(told: Operation, path: str, method: str, named: dict[str, Schema]) -> dict[str, Any]:
    has_body = told.body is not None and method != "GET"
    codes = {*ALWAYS, *told.refusals, *(WITH_BODY if has_body else ())}
    described = {
        "operationId": _name(method, path),
        "summary": told.summary,
        "description": f"Needs: {needed(path, method)}",
        "tags": [path.removeprefix("/api").split("/")[1]],
        "parameters": [*_of_path(path), *_of_query(told, named)],
        "responses": {
            **_done(told, named),
            **{str(code): _refusal(code) for code in sorted(codes)},
            **_conflict(told, named),
        },
    }
    if has_body:
        content = {"application/json": {"schema": schema_of(told.body, named)}}
        described["requestBody"] = {"required": True, "content": content}
    return described


def needed(path: str, method: str) -> str:
    """The right that a route takes, in words."""
    return plain(need_of(path, method).__doc__ or "")


def _socket(told: Operation, path: str, named: dict[str, Schema]) -> dict[str, Any]:
    sent = {} if isinstance(told.answer, str) else schema_of(told.answer, named)
    taken = {} if told.body is None else {"takes": schema_of(told.body, named)}
    described = {"summary": told.summary, "description": f"Needs: {needed(path, 'GET')}"}
    return {**described, "sends": sent, **taken}


def _done(told: Operation, named: dict[str, Schema]) -> dict[str, Any]:
    if told.answer == REDIRECT:
        return {"303": {"description": "Go there."}}
    if isinstance(told.answer, str):
        return {"200": {"description": told.summary, "content": {told.answer: {}}}}
    content = {"application/json": {"schema": schema_of(told.answer, named)}}
    meaning = told.answer.__doc__ if is_typeddict(told.answer) else None
    return {"200": {"description": plain(meaning or told.summary), "content": content}}


def _conflict(told: Operation, named: dict[str, Schema]) -> dict[str, Any]:
    if told.conflict is None:
        return {}
    content = {"application/json": {"schema": schema_of(told.conflict, named)}}
    return {"409": {"description": plain(told.conflict.__doc__ or ""), "content": content}}


def _refusal(code: int) -> dict[str, Any]:
    return {"description": f"{HTTPStatus(code).phrase}, as a sentence.", "content": TEXT_CONTENT}


def _of_path(path: str) -> list[dict[str, Any]]:
    schema = {"type": "string", "minLength": 1}
    return [
        {"name": name, "in": "path", "required": True, "schema": schema}
        for name in re.findall(r"{(\w+)}", path)
    ]


def _of_query(told: Operation, named: dict[str, Schema]) -> list[dict[str, Any]]:
    if told.query is None:
        return []
    return [
        {
            "name": one.name,
            "in": "query",
            "required": one.is_required,
            "schema": described_schema(one, named),
            **({"style": "form", "explode": True} if get_origin(one.kind) is list else {}),
        }
        for one in asked_fields(told.query)
    ]


def _name(method: str, path: str) -> str:
    words = re.findall(r"\w+", path.removeprefix("/api"))
    return "_".join([method.lower(), *words])

"""What the API answers to a path that it does not have, or a method that a path does not have.

Never answers with a file of the page, which stands behind all routes.
"""

from collections.abc import Sequence

from starlette.responses import PlainTextResponse
from starlette.routing import BaseRoute, Match, Route
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocketClose


class UnmatchedPath:
    """Stands behind the routes of the API."""

    def __init__(self, routes: Sequence[BaseRoute]) -> None:
        """`routes` are all that the API has."""
        self._routes = [route for route in routes if isinstance(route, Route)]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, with the methods that the path has."""
        if scope["type"] == "websocket":
            await WebSocketClose(reason="there is no such WebSocket")(scope, receive, send)
            return
        methods = self._methods({**scope, "root_path": ""})
        if methods:
            allowed = ", ".join(sorted(methods))
            answer = PlainTextResponse(f"this path takes {allowed}\n", 405, {"allow": allowed})
        else:
            answer = PlainTextResponse("the API has no such path\n", 404)
        await answer(scope, receive, send)

    def _methods(self, scope: Scope) -> set[str]:
        """The methods of the path; none if no route has it."""
        found = (one for one in self._routes if one.matches(scope)[0] is not Match.NONE)
        return {method for route in found for method in route.methods or ()}

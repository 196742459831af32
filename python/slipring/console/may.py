"""Who may use the console for what: the one place that decides it for a request."""

from starlette.requests import Request

from slipring.console.operating import ELSEWHERE, Refused, is_from_here


def may(request: Request, right: str, topic: str) -> Refused | None:
    """None if the request may do this; otherwise the text and the status of the refusal.

    The console has no login: this machine may do everything, others nothing that changes something
    or names users.
    """
    del right, topic
    return None if is_from_here(request) else (ELSEWHERE, 403)

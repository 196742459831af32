"""What people do at the console, told in one place: who, what, from where. Never a password."""

import logging
from typing import Literal

log = logging.getLogger("slipring.audit")

TEXT_MAX = 256
"""Characters of a name or a detail that are written; who is not logged in chooses them."""

ActKind = Literal["login", "logout", "denied", "token_issued"]


def audit(
    kind: ActKind, user: str | None, detail: str, address: str, *, outcome: str = "ok"
) -> None:
    """Tell of an act: its kind, who did it, what it was, the peer's address, and how it ended."""
    who, what = _shown(user or ""), _shown(detail)
    log.info("%s: user=%s address=%s outcome=%s %s", kind, who, address, outcome, what)


def _shown(text: str) -> str:
    """On one line, whatever it holds."""
    cut = text[:TEXT_MAX]
    return cut if cut.isprintable() else ascii(cut)

"""What people did at the console, for the record: who, what, from where. Never a password."""

import logging

log = logging.getLogger("slipring.audit")

TEXT_MAX = 256
"""Characters of a name or a detail that are written; who is not logged in chooses them."""


def audit(kind: str, user: str | None, detail: str, address: str) -> None:
    """Record an act: a kind such as `login`, who did it, what it was, and the peer's address."""
    who, what = _shown(user or "nobody"), _shown(detail)
    log.info("%s: user=%s address=%s %s", kind, who, address, what)


def _shown(text: str) -> str:
    """On one line, whatever it holds."""
    cut = text[:TEXT_MAX]
    return cut if cut.isprintable() else ascii(cut)

"""Which lists of the live message one page shows. It never decides what a visitor may see."""

import json

from slipring.console.live_message import PARTS, Parts

NOT_UNDERSTOOD = f'send {{"parts": ["clients"]}}; parts are {", ".join(sorted(PARTS))}'


class ShownParts:
    """What a page asked for last; a page that asks for nothing in particular is sent everything."""

    def __init__(self, query: str | None) -> None:
        """Start with what its address says, separated by commas; unknown ones are left out."""
        self.parts: Parts = PARTS if query is None else PARTS & frozenset(query.split(","))

    def take(self, text: str | None) -> str | None:
        """Take another choice; return what is wrong with it."""
        try:
            asked = json.loads(text or "")["parts"]
            parts = frozenset(asked) if isinstance(asked, list) else None
        except (ValueError, TypeError, KeyError, RecursionError):
            parts = None
        if parts is None or not parts <= PARTS:
            return NOT_UNDERSTOOD
        self.parts = parts
        return None

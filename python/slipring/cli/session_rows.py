"""Sessions by the console's API: list them, show them, end them."""

import time
from typing import Any
from urllib.parse import urlencode

from slipring.cli.console_access import ConsoleAccess
from slipring.cli.console_request import ask
from slipring.cli.display import ago, counted, duration, size
from slipring.cli.terminal_table import plain, show, table

BATCH = 1_000
"""The sessions in one request, at most."""
Json = dict[str, Any]


def found(console: ConsoleAccess, owner: str | None, state: str | None, most: int) -> Json:
    """Ask for sessions, the costliest first."""
    wanted = {"owner": owner, "state": state, "most": most}
    query = urlencode({key: value for key, value in wanted.items() if value is not None})
    return ask(console, f"/api/sessions?{query}")


def show_sessions(answer: Json) -> None:
    """Print sessions as a table."""
    rows = answer["sessions"]
    heads = ("client", "owner", "address", "+since", "+ends in", "+waiting", "+data")
    shown = table(*heads, "+subscriptions", "+parameters")
    now_ms = time.time() * 1_000
    for row in rows:
        names = (row["client_id"], row["owner"], row["address"] or "away")
        shown.add_row(
            *map(plain, names),
            ago((now_ms - row["since_ms"]) / 1_000),
            _ends(row),
            f"{row['queued_messages']:,}",
            size(row["queued_bytes"]),
            f"{row['subscriptions']:,}",
            f"{row['parameters']:,}",
        )
    if answer["total"] > len(rows):
        shown.caption = f"and {answer['total'] - len(rows):,} more"
    show(shown if rows else counted(0, "session"))


def _ends(row: Json) -> str:
    if row["state"] == "connected":
        return "" if row["kept"] else "with it"
    return "never" if row["expires_s"] is None else duration(row["expires_s"])


def act(console: ConsoleAccess, path: str, client_ids: list[str]) -> Json:
    """Disconnect these clients or end their sessions; returns those done, and those not found."""
    result: Json = {"done": [], "unknown": []}
    for first in range(0, len(client_ids), BATCH):
        answer = ask(console, path, {"client_ids": client_ids[first : first + BATCH]})
        for key, named in result.items():
            named.extend(answer[key])
    return result


def act_on_owner(console: ConsoleAccess, path: str, owner: str, state: str | None) -> Json:
    """The same for all clients that one owner has now."""
    done: dict[str, None] = {}
    while True:
        rows = found(console, owner, state, BATCH)["sessions"]
        left = [row["client_id"] for row in rows if row["client_id"] not in done]
        answer = act(console, path, left)
        done |= dict.fromkeys(answer["done"])
        if not answer["done"]:
            return {"done": list(done), "unknown": []}

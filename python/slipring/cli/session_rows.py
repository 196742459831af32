"""Sessions as the console tells them: asked for, shown, ended."""

import time
from typing import Any
from urllib.parse import urlencode

from slipring.cli.console_request import ask
from slipring.cli.display import ago, counted, duration, size
from slipring.cli.tables import plain, show, table

BATCH = 1_000
"""Sessions that one request names, at most."""
Json = dict[str, Any]


def found(console: str, owner: str | None, state: str | None, most: int) -> Json:
    """Ask for sessions, those that cost most first."""
    wanted = {"owner": owner, "state": state, "most": most}
    query = urlencode({key: value for key, value in wanted.items() if value is not None})
    return ask(console, f"/api/sessions?{query}")


def show_sessions(answer: Json) -> None:
    """Print them for a person."""
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


def act(console: str, path: str, client_ids: list[str]) -> Json:
    """Do something to each of these clients; whom it was done to, and who was not found."""
    told: Json = {"done": [], "unknown": []}
    for first in range(0, len(client_ids), BATCH):
        answer = ask(console, path, {"client_ids": client_ids[first : first + BATCH]})
        for key, named in told.items():
            named.extend(answer[key])
    return told


def act_on_owner(console: str, path: str, owner: str, state: str | None) -> Json:
    """Do it to all of one owner that are there now."""
    done: dict[str, None] = {}
    while True:
        rows = found(console, owner, state, BATCH)["sessions"]
        left = [row["client_id"] for row in rows if row["client_id"] not in done]
        answer = act(console, path, left)
        done |= dict.fromkeys(answer["done"])
        if not answer["done"]:
            return {"done": list(done), "unknown": []}

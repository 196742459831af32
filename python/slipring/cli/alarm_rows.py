"""Alarms by the console's API: list them, follow them, act on them."""

import json
import time
from typing import Any
from urllib.parse import urlencode

from slipring.cli.console_access import ConsoleAccess
from slipring.cli.console_request import ask
from slipring.cli.display import ago, counted, printable
from slipring.cli.terminal_table import plain, show, table

WATCH_S = 0.5
BATCH = 1_000
"""The alarms in one request, at most."""
DONE = {
    "acknowledge": "acknowledged",
    "shelve": "shelved",
    "unshelve": "no longer shelved",
    "comment": "commented",
}
Json = dict[str, Any]


def found(console: ConsoleAccess, state: str | None) -> Json:
    """Ask for alarms, those that nobody has acknowledged first."""
    query = f"?{urlencode({'state': state})}" if state else ""
    return ask(console, f"/api/alarms{query}")


def ids_of(console: ConsoleAccess, parameter: str | None) -> list[str]:
    """The alarms in the list; of one parameter only, if it is given."""
    alarms = found(console, None)["alarms"]
    return [one["id"] for one in alarms if parameter in {None, one["parameter"]}]


def act(console: ConsoleAccess, verb: str, ids: list[str], fields: Json) -> Json:
    """Do something with alarms; returns those it was done to, and those that were not found."""
    result: Json = {"done": [], "unknown": []}
    for first in range(0, len(ids), BATCH):
        answer = ask(console, f"/api/alarms/{verb}", {"ids": ids[first : first + BATCH], **fields})
        for key, named in result.items():
            named.extend(answer[key])
    return result


def told(verb: str, answer: Json) -> str:
    """What was done, in words."""
    unknown = [printable(one) for one in answer["unknown"]]
    gone = f"; not in the list: {', '.join(unknown)}" if unknown else ""
    return f"{counted(len(answer['done']), 'alarm')} {DONE[verb]}{gone}"


def show_alarms(answer: Json) -> None:
    """Print alarms as a table."""
    rows = answer["alarms"]
    shown = table("id", "state", "level", "parameter", "limit", "+value", "+since", "who")
    now_ms = time.time() * 1_000
    for row in rows:
        shown.add_row(
            *map(plain, (row["id"], row["state"], row["level"], row["parameter"])),
            plain(_measured(row["limit"], row["threshold"], None)),
            plain(_measured("", row["value"], row["unit"])),
            ago((now_ms - row["since_ms"]) / 1_000),
            plain(_who(row)),
        )
    if answer["total"] > len(rows):
        shown.caption = f"and {answer['total'] - len(rows):,} more"
    show(shown if rows else "no alarms")


def watch(console: ConsoleAccess, state: str | None, *, as_json: bool) -> None:
    """Print a line for each alarm that is new or changed, until interrupted."""
    from slipring.cli.interrupt import also_on_sigterm

    also_on_sigterm()
    seen: dict[str, Json] = {}
    while True:
        alarms = {one["id"]: one for one in found(console, state)["alarms"]}
        for name, alarm in alarms.items():
            if seen.get(name) != alarm:
                print(json.dumps(alarm) if as_json else _line(alarm), flush=True)
        for name in seen.keys() - alarms.keys():
            print(json.dumps({"id": name, "state": "gone"}) if as_json else f"{name} left the list")
        seen = alarms
        time.sleep(WATCH_S)


def _line(alarm: Json) -> str:
    value = _measured("", alarm["value"], alarm["unit"])
    words = (alarm["id"], alarm["state"], alarm["level"], alarm["parameter"], alarm["limit"], value)
    return printable("  ".join(word for word in (*words, _who(alarm)) if word))


def _who(alarm: Json) -> str:
    """Who has done something with it."""
    seen = f"seen by {alarm['acknowledged_by']}" if alarm["acknowledged_by"] else ""
    shelved = f"shelved by {alarm['shelved_by']}" if alarm["shelved_by"] else ""
    comments = [f"{one['by']}: {one['text']}" for one in alarm["comments"][-1:]]
    return "; ".join(filter(None, (seen, shelved, *comments)))


def _measured(name: str, value: float | None, unit: str | None) -> str:
    number = "" if value is None else f"{value:g}"
    return " ".join(filter(None, (name, number, (unit or "") if number else "")))

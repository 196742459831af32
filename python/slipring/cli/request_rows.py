"""Requests, services and subscribers by the console's API, as tables and as lines of time."""

import json
import time
from datetime import datetime
from typing import cast
from urllib.parse import quote, urlencode

from rich.table import Table

from slipring.cli.console_access import ConsoleAccess
from slipring.cli.console_request import Json, ask
from slipring.cli.display import ago, counted, duration, printable, size
from slipring.cli.terminal_table import facts, plain, show, table
from slipring.status.requests import (
    RequestFigures,
    RequestsMessage,
    RequestStatus,
    TopicStatus,
)

FOLLOW_S = 0.5
"""How often the broker is asked while its requests are followed."""
FOLLOWED_MAX = 1_000
"""Requests of one answer, at most."""
Wanted = dict[str, str | None]


def found(console: ConsoleAccess, wanted: Wanted, most: int) -> RequestsMessage:
    """Ask for requests, and everything about them."""
    query = {key: value for key, value in wanted.items() if value is not None} | {"most": str(most)}
    return cast("RequestsMessage", ask(console, f"/api/requests?{urlencode(query)}"))


def found_one(console: ConsoleAccess, key: str) -> Json:
    """Ask for one request."""
    return ask(console, f"/api/requests/{quote(key, safe='')}")


def found_subscribers(console: ConsoleAccess, topic: str, most: int) -> TopicStatus:
    """Ask for the subscribers of a topic."""
    query = urlencode({"topic": topic, "most": most})
    return cast("TopicStatus", ask(console, f"/api/subscribers?{query}"))


def requests_line(figures: RequestFigures) -> str:
    """All requests in one line."""
    if not figures["asked"] and not figures["open"]:
        return "none"
    states = [f"{row['count']:,} {row['state']}" for row in figures["states"] if row["count"]]
    ends = [f"{row['count']:,} {row['state']}" for row in figures["ends"] if row["count"]]
    said = [f"{figures['open']:,} open" + (f" ({', '.join(states)})" if states else "")]
    said += [f"ended: {', '.join(ends)}"] if ends else []
    return "; ".join(said)


def services_line(figures: RequestFigures) -> str:
    """All services in one line."""
    busy = sum(row["count"] for row in figures["states"] if row["state"] == "delivered")
    times = f"answers p50 {span(figures['p50_ms'])}, p99 {span(figures['p99_ms'])}"
    said = f"{counted(figures['services'], 'service')}, {busy:,} of {figures['room']:,} busy"
    return said if figures["p50_ms"] is None else f"{said}, {times}"


def show_requests(listed: RequestsMessage, *, is_narrowed: bool) -> None:
    """Print requests; and, unless they were narrowed down, everything about them."""
    requests = _requests(listed)
    if is_narrowed:
        show(requests if requests.row_count else counted(0, "request"))
        return
    tables = (_services(listed), _topics(listed), _waiting(listed), requests)
    show(_figures(listed["figures"]), *(one for one in tables if one.row_count))


def show_life(answer: Json) -> None:
    """Print one request and its life as a line of time."""
    request = cast("RequestStatus", answer["request"])
    line = table("+at", "+after", "what happened")
    before_ms: float | None = None
    for at_ms, what in life(request):
        line.add_row(
            _clock(at_ms), "" if before_ms is None else f"+{span(at_ms - before_ms)}", plain(what)
        )
        before_ms = at_ms
    rows = [
        ("request", request["key"]),
        ("topic", request["topic"]),
        ("state", request["state"]),
        ("asker", request["asker"]),
        ("service", request["service"] or "none"),
        ("priority", request["priority"]),
        ("payload", size(request["payload_bytes"])),
    ]
    if request["times_out_ms"] is not None:
        rows.append(("times out in", span(request["times_out_ms"] - answer["at_ms"])))
    show(facts(rows), line)


def life(request: RequestStatus) -> list[tuple[float, str]]:
    """What happened to a request and when, in order."""
    service, state = request["service"] or "a service that has gone", request["state"]
    end = "answered" if state in ("answer stored", "answer delivered") else str(state)
    if request["reason"]:
        end = f"{end}: {request['reason']}"
    told = {"answer stored": "answered; the asker is away, so the answer is stored"}
    steps = [
        (request["asked_ms"], f"asked by {request['asker']}"),
        (request["stored_ms"], "stored: waits for a service"),
        (request["delivered_ms"], f"delivered to {service}"),
        (request["ended_ms"], told.get(state, end)),
    ]
    return sorted(((at_ms, what) for at_ms, what in steps if at_ms is not None), key=_at)


def follow(console: ConsoleAccess, wanted: Wanted, *, as_json: bool) -> None:
    """Print a line for each request that is new or in another state, until interrupted."""
    from slipring.cli.interrupt import also_on_sigterm

    also_on_sigterm()
    seen: dict[str, str] = {}
    while True:
        requests = found(console, wanted, FOLLOWED_MAX)["requests"]
        changed = [one for one in requests if seen.get(one["key"]) != one["state"]]
        for request in sorted(changed, key=_changed_ms):
            print(json.dumps(request) if as_json else _change(request), flush=True)
        seen = {one["key"]: one["state"] for one in requests}
        time.sleep(FOLLOW_S)


def show_subscribers(found: TopicStatus) -> None:
    """Print what came on a topic, and who is subscribed to it."""
    rows = [("topic", found["topic"]), ("messages", f"{found['messages'] or 0:,}")]
    if found["last_ms"] is not None:
        rows.append(("last", ago(time.time() - found["last_ms"] / 1_000)))
    shown = table("subscriber", "filter", "+qos", "share", "+serves", "priority", "state")
    for row in found["subscribers"]:
        shown.add_row(
            *map(plain, (row["client_id"], row["filter"])),
            str(row["qos"]),
            plain(row["share"] or ""),
            str(row["serve"] or ""),
            row["priority"] or "",
            "connected" if row["connected"] else "away",
        )
    if found["subscribers_total"] > shown.row_count:
        shown.caption = f"and {found['subscribers_total'] - shown.row_count:,} more"
    show(facts(rows), shown if shown.row_count else "no subscribers")


def span(elapsed_ms: float | None) -> str:
    """A time with its significant digits: 0.12 ms, 35 ms, 1.2 s, 3 min; "" if unknown."""
    if elapsed_ms is None:
        return ""
    if elapsed_ms < 1_000:
        return f"{elapsed_ms:.2f} ms" if elapsed_ms < 10 else f"{elapsed_ms:.0f} ms"
    return f"{elapsed_ms / 1_000:.1f} s" if elapsed_ms < 60_000 else duration(elapsed_ms / 1_000)


def _figures(figures: RequestFigures) -> Table:
    rows = [("requests", requests_line(figures)), ("services", services_line(figures))]
    others = (
        (figures["retried"], "sent to another service", "sent to another service"),
        (figures["parts"], "part", "parts"),
        (figures["late"], "answer discarded", "answers discarded"),
        (figures["refused"], "request refused", "requests refused"),
    )
    said = [counted(*one) for one in others if one[0]]
    return facts([*rows, *([("also", ", ".join(said))] if said else [])])


def _services(listed: RequestsMessage) -> Table:
    shown = table("service", "state", "+busy", "+of", "+answered", "+failed", "+p50", "+p99")
    for row in listed["services"]:
        shown.add_row(
            plain(row["client_id"]),
            "connected" if row["connected"] else "away",
            *(f"{number:,}" for number in (row["busy"], row["limit"])),
            *(f"{number:,}" for number in (row["answered"], row["failed"])),
            span(row["p50_ms"]),
            span(row["p99_ms"]),
        )
    _say_more(shown, listed["figures"]["services"])
    return shown


def _topics(listed: RequestsMessage) -> Table:
    shown = table("topic", "+open", "+stored")
    for row in listed["topics"]:
        shown.add_row(plain(row["topic"]), f"{row['open']:,}", f"{row['stored']:,}")
    _say_more(shown, listed["figures"]["topics"])
    return shown


def _waiting(listed: RequestsMessage) -> Table:
    shown = table("messages wait for a subscriber on", "+messages", "+data")
    for row in listed["waiting"]:
        shown.add_row(plain(row["topic"]), f"{row['messages']:,}", size(row["bytes"]))
    return shown


def _requests(listed: RequestsMessage) -> Table:
    shown = table("request", "state", "topic", "asker", "service", "priority", "+age", "+took")
    for row in listed["requests"]:
        ended_ms = row["ended_ms"]
        names = (row["key"], row["state"], row["topic"], row["asker"], row["service"] or "")
        shown.add_row(
            *map(plain, names),
            row["priority"],
            duration((listed["at_ms"] - row["asked_ms"]) / 1_000),
            "" if ended_ms is None else span(ended_ms - row["asked_ms"]),
        )
    return shown


def _say_more(shown: Table, total: int) -> None:
    if shown.row_count and total > shown.row_count:
        shown.caption = f"and {total - shown.row_count:,} more"


def _change(request: RequestStatus) -> str:
    service = f" -> {request['service']}" if request["service"] else ""
    words = f"{request['state']} {request['topic']} {request['asker']}{service}"
    return f"{_clock(_changed_ms(request))} {request['key']} {printable(words)}"


def _changed_ms(request: RequestStatus) -> float:
    return life(request)[-1][0]


def _at(step: tuple[float, str]) -> float:
    return step[0]


def _clock(at_ms: float) -> str:
    at = datetime.fromtimestamp(at_ms / 1_000).astimezone()
    return at.strftime("%H:%M:%S.") + f"{at.microsecond // 1_000:03}"

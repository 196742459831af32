"""The console's own rows of the metrics."""

from collections.abc import Iterator

from slipring.console.door import Door
from slipring.console.journal_metrics import Family


def console_families(door: Door) -> Iterator[Family]:
    """Who is there, and who was turned away."""
    counts = door.counts
    why = {
        "no_place": counts.refused,
        "displaced": counts.displaced,
        "too_slow": counts.late,
        "no_page": counts.pages_refused,
    }
    gauges = [
        ("connections", "Connections to the console.", len(door.guests)),
        ("connections_max", "Connections to the console at most.", door.guests_max),
        ("pages", "Open pages (WebSockets).", door.pages),
        ("pages_max", "Open pages at most.", door.pages_max),
    ]
    for name, meaning, value in gauges:
        yield f"slipring_console_{name}", "gauge", meaning, [({}, value)]
    meaning = "Connections that the console accepted."
    yield "slipring_console_accepted_total", "counter", meaning, [({}, counts.accepted)]
    yield (
        "slipring_console_turned_away_total",
        "counter",
        "Connections that the console refused or ended.",
        [({"why": reason}, count) for reason, count in why.items()],
    )

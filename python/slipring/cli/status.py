"""`slipring status`: a running broker at a glance, asked of its console."""

import json
import urllib.request
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from slipring.cli.display import printable
from slipring.errors import ConnectError

TIMEOUT_S = 10
CLIENTS_SHOWN = 20
PREFIXES_SHOWN = 10
Json = dict[str, Any]


def run_status(url: str, *, as_json: bool) -> None:
    """Print what the broker's console tells, for a person or as it came."""
    overview = _ask(url)
    if as_json:
        print(json.dumps(overview, indent=2))
        return
    screen = Console(highlight=False)
    screen.print(_summary(overview))
    for table in (_clients(overview), _prefixes(overview), _limits(overview)):
        if table.row_count:
            screen.print("", table)


def _ask(url: str) -> Json:
    address = f"{url.rstrip('/')}/api/overview"
    if not address.startswith(("http://", "https://")):
        raise ConnectError(f"'{url}' is not the address of a console, as http://127.0.0.1:8080")
    try:
        with urllib.request.urlopen(address, timeout=TIMEOUT_S) as answer:  # noqa: S310 (checked)
            overview: Json = json.load(answer)
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", error)
        raise ConnectError(
            f"no broker's console answers at {url}: {reason}; "
            "`slipring serve` prints its address, as console=http://127.0.0.1:8080"
        ) from None
    return overview


def _summary(overview: Json) -> Table:
    broker, rates, totals = overview["broker"], overview["rates"], overview["totals"]
    shown = Table.grid(padding=(0, 2))
    for name, text in (
        ("broker", f"{broker['name']} {broker['version']}, up for {_duration(broker['uptime_s'])}"),
        ("mqtt", broker["mqtt"]),
        ("in", f"{rates['messages_in']:,.0f} messages/s, {_size(rates['bytes_in'])}/s"),
        ("out", f"{rates['messages_out']:,.0f} messages/s, {_size(rates['bytes_out'])}/s"),
        ("lost", f"{totals['dropped']:,} dropped, {totals['expired']:,} expired"),
        ("clients", f"{overview['clients_total']:,}, {overview['sessions_away']:,} sessions away"),
        ("subscriptions", f"{overview['subscriptions_total']:,}"),
        ("retained", f"{overview['retained']['messages']:,}"),
        ("journal", _journal(broker["journal"])),
    ):
        shown.add_row(Text(name, "dim"), _plain(text))
    return shown


def _journal(journal: Json) -> str:
    if journal["state"] == "off":
        return "off"
    if journal["state"] == "failed":
        return f"failed: {journal['reason']}; {journal['not_journaled']:,} messages not journaled"
    waiting = journal["next_offset"] - journal["synced_offset"]
    return (
        f"{journal['next_offset']:,} messages, {_size(journal['bytes'])}, {waiting:,} not on disk"
    )


def _clients(overview: Json) -> Table:
    busiest = sorted(
        overview["clients"], key=lambda row: (-row["dropped"], -row["queued_messages"])
    )
    shown = _table("client", "user", "address", "protocol", "+in", "+out", "+queue", "+dropped")
    for row in busiest[:CLIENTS_SHOWN]:
        numbers = (row["messages_in"], row["messages_out"], row["queued_messages"], row["dropped"])
        names = (row["client_id"], row["user"] or "", row["address"], row["protocol"])
        shown.add_row(*map(_plain, names), *(f"{number:,}" for number in numbers))
    more = overview["clients_total"] - shown.row_count
    if more > 0:
        shown.caption = f"and {more:,} more"
    return shown


def _prefixes(overview: Json) -> Table:
    shown = _table("prefix", "+messages/s", "+data/s", "+messages", "+deliveries")
    for row in overview["prefixes"][:PREFIXES_SHOWN]:
        rate, size = f"{row['messages_s']:,.0f}", f"{_size(row['bytes_s'])}/s"
        totals = (f"{row['messages']:,}", f"{row['deliveries']:,}")
        shown.add_row(_plain(row["prefix"]), rate, size, *totals)
    return shown


def _limits(overview: Json) -> Table:
    shown = _table("limit reached", "+set to", "+times", "+last")
    for row in overview["limits"]:
        ago_s = (overview["at_ms"] - row["last_ms"]) / 1_000
        key = _plain(f"limits.{row['limit']}")
        shown.add_row(key, f"{row['value']:,}", f"{row['times']:,}", _ago(ago_s))
    return shown


def _table(*heads: str) -> Table:
    """A table; numbers stand under a head with a plus."""
    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    for head in heads:
        justify: Any = "right" if head.startswith("+") else "left"
        table.add_column(head.removeprefix("+"), justify=justify, no_wrap=True)
    return table


def _plain(text: str) -> Text:
    """A name that others chose, without markup and without control codes."""
    return Text(printable(text))


def _size(count: float) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1_000:
            return f"{count:,.0f} {unit}" if unit == "B" else f"{count:,.1f} {unit}"
        count /= 1_000
    return f"{count:,.1f} TB"


def _ago(seconds: float) -> str:
    return "now" if seconds < 1 else f"{_duration(seconds)} ago"


def _duration(seconds: float) -> str:
    whole = max(0, int(seconds))
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if whole >= size:
            return f"{whole // size} {unit}"
    return f"{whole} s"

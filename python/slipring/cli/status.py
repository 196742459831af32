"""`slipring status`: a running broker at a glance, from its console."""

import json
from typing import cast

from rich.table import Table
from rich.text import Text

from slipring.cli.console_access import ConsoleAccess
from slipring.cli.console_request import ask
from slipring.cli.display import ago, counted, duration, lag, printable, size
from slipring.cli.journal_rows import journal_rows
from slipring.cli.request_rows import requests_line, services_line
from slipring.cli.terminal_table import facts, plain, show, table
from slipring.status.message import ConsumerStatus, JournalSummary, LiveMessage, TableFigures

CLIENTS_SHOWN = 20
AWAY_SHOWN = 20
PREFIXES_SHOWN = 10
OWNERS_FROM = 10
"""An owner is shown if it holds at least one part in so many of a limit."""


def run_status(access: ConsoleAccess, *, as_json: bool) -> None:
    """Print the overview of the broker's console, as tables or as JSON."""
    overview = cast("LiveMessage", ask(access, "/api/overview"))
    if as_json:
        print(json.dumps(overview, indent=2))
        return
    tables = (
        _summary(overview),
        _consumers(overview),
        _clients(overview),
        _away(overview),
        _prefixes(overview),
        _limits(overview),
        _owners(overview),
    )
    show(*_trouble(overview["broker"]["journal"]), *(one for one in tables if one.row_count))


def _trouble(journal: JournalSummary) -> list[Text]:
    if not journal["reason"]:
        return []
    trouble = f"{journal['state'].upper()}: {journal['reason']}; {journal['advice']}"
    return [Text(printable(trouble), "bold red")]


def _summary(overview: LiveMessage) -> Table:
    broker, rates, totals = overview["broker"], overview["rates"], overview["totals"]
    used, most = overview["memory"]["bytes"], overview["memory"]["budget"]
    rows = [
        ("broker", f"{broker['name']} {broker['version']}, up for {duration(broker['uptime_s'])}"),
        ("mqtt", broker["mqtt"]),
        ("in", f"{rates['messages_in']:,.0f} messages/s, {size(rates['bytes_in'])}/s"),
        ("out", f"{rates['messages_out']:,.0f} messages/s, {size(rates['bytes_out'])}/s"),
        ("lost", f"{totals['dropped']:,} dropped, {totals['expired']:,} expired"),
        ("clients", f"{overview['clients_total']:,}, {overview['sessions_away']:,} sessions away"),
        ("subscriptions", f"{overview['subscriptions_total']:,}"),
        ("retained", f"{overview['retained']['messages']:,}"),
        ("waiting", f"{overview['waiting']['messages']:,} for their first subscriber"),
        ("memory", f"{size(used)} of what waits for others, {size(most)} at most"),
        ("table", _table_line(overview["table"])),
        ("requests", requests_line(overview["requests"])),
        ("services", services_line(overview["requests"])),
        *journal_rows(broker["journal"]),
    ]
    return facts(rows)


def _table_line(table: TableFigures) -> str:
    if not table["parameters"]:
        return "no parameters"
    refused = f", {table['refused']:,} refused" if table["refused"] else ""
    return (
        f"{counted(table['parameters'], 'parameter')}, {table['stale']:,} stale, "
        f"{table['samples_s']:,.0f} samples/s in {table['frames_s']:,.0f} frames/s{refused}"
    )


def _clients(overview: LiveMessage) -> Table:
    busiest = sorted(
        overview["clients"], key=lambda row: (-row["dropped"], -row["queued_messages"])
    )
    shown = table("client", "user", "address", "protocol", "+in", "+out", "+queue", "+dropped")
    for row in busiest[:CLIENTS_SHOWN]:
        numbers = (row["messages_in"], row["messages_out"], row["queued_messages"], row["dropped"])
        protocol = f"{row['protocol']}, slowed" if row["slowed"] else row["protocol"]
        names = (row["client_id"], row["user"] or "", row["address"], protocol)
        shown.add_row(*map(plain, names), *(f"{number:,}" for number in numbers))
    _say_more(shown, overview["clients_total"])
    return shown


def _away(overview: LiveMessage) -> Table:
    shown = table("client away", "user", "+waiting", "+data", "+since", "+ends in")
    for row in overview["away"][:AWAY_SHOWN]:
        left_s = row["expires_s"]
        shown.add_row(
            *map(plain, (row["client_id"], row["user"] or "")),
            f"{row['queued_messages']:,}",
            size(row["queued_bytes"]),
            ago((overview["at_ms"] - row["since_ms"]) / 1_000),
            "never" if left_s is None else duration(left_s),
        )
    _say_more(shown, overview["sessions_away"])
    return shown


def _consumers(overview: LiveMessage) -> Table:
    journal = overview["broker"]["journal"]
    heads = ("consumer", "+read to", "+behind", "+lag", "+messages/s", "+moved", "rows/s")
    shown = table(*heads)
    for row in journal["consumers"]:
        if row["flaw"] or row["updated_ms"] is None:
            shown.add_row(plain(row["name"]), "", "", "", "", plain(row["flaw"] or ""))
            continue
        moved = ago((overview["at_ms"] - row["updated_ms"]) / 1_000)
        numbers = (f"{row['offset']:,}", f"{row['behind']:,}", lag(row["lag_s"]))
        read = "" if row["messages_s"] is None else f"{row['messages_s']:,.0f}"
        shown.add_row(plain(row["name"]), *numbers, read, moved, plain(_written(row)))
    _say_more(shown, journal["consumers_total"])
    return shown


def _written(consumer: ConsumerStatus) -> str:
    """Rows per second of each table; rows that were set aside by their number."""
    told = [
        f"{row['rows']:,} set aside"
        if row["table"] == "set_aside"
        else f"{row['table']} {row['rows_s']:,.0f}"
        for row in consumer["rows"]
    ]
    return ", ".join(told)


def _prefixes(overview: LiveMessage) -> Table:
    shown = table("prefix", "+messages/s", "+data/s", "+messages", "+deliveries")
    for row in overview["prefixes"][:PREFIXES_SHOWN]:
        rates = (f"{row['messages_s']:,.0f}", f"{size(row['bytes_s'])}/s")
        totals = (f"{row['messages']:,}", f"{row['deliveries']:,}")
        shown.add_row(plain(row["prefix"]), *rates, *totals)
    return shown


def _limits(overview: LiveMessage) -> Table:
    shown = table("limit reached", "+set to", "+times", "+last")
    for row in overview["limits"]:
        ago_s = (overview["at_ms"] - row["last_ms"]) / 1_000
        limit = row["limit"]
        key = plain(limit if limit.startswith("quota.") else f"limits.{limit}")
        shown.add_row(key, f"{row['value']:,}", f"{row['times']:,}", ago(ago_s))
    return shown


def _owners(overview: LiveMessage) -> Table:
    """For each limit, the owner that holds most of it, if that is a tenth or more."""
    shown = table("holds most", "of", "+has", "+may have")
    seen: set[str] = set()
    for row in overview["owners"]:
        if row["limit"] not in seen and row["held"] * OWNERS_FROM >= row["most"]:
            numbers = (f"{row['held']:,}", f"{row['most']:,}")
            shown.add_row(plain(row["owner"]), plain(f"limits.{row['limit']}"), *numbers)
        seen.add(row["limit"])
    return shown


def _say_more(shown: Table, total: int) -> None:
    more = total - shown.row_count
    if more > 0:
        shown.caption = f"and {more:,} more"

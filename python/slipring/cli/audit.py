"""`slipring audit`: the audit of a broker on this machine, for people and as JSON lines."""

import json
import time
from pathlib import Path
from typing import Annotated, Any

import typer

FOLLOW_S = 0.25
"""How often new records are looked for."""


def audit(  # noqa: PLR0913 (each is an option)
    data: Annotated[
        Path, typer.Option(help="The broker's data folder, which has the audit in it.")
    ] = Path("slipring-data"),
    *,
    user: Annotated[str, typer.Option(help="Only records of this user.")] = "",
    client: Annotated[str, typer.Option(help="Only records of this client.")] = "",
    kind: Annotated[
        str, typer.Option(help="Only records of this kind, such as denied or changed.")
    ] = "",
    since: Annotated[
        str, typer.Option(help="Only records since a time or an age, such as -10m or -1d.")
    ] = "",
    most: Annotated[int, typer.Option("-n", min=1, help="How many of the newest records.")] = 100,
    follow: Annotated[bool, typer.Option(help="Go on with new records, until Ctrl-C.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="A JSON object in each line.")] = False,
) -> None:
    """Show who connected, was refused, read or changed what, and by which right.

    For example:

        slipring audit --kind denied --since -1h

        slipring audit --user anna --json

        slipring audit --follow
    """
    from slipring.control.audit import ALWAYS, KINDS, audit_folder
    from slipring.errors import JournalError
    from slipring.journal.audit import AuditFilter, AuditReader

    if kind and kind not in (*KINDS, *ALWAYS):
        raise typer.BadParameter(f"there is no kind '{kind}', only {', '.join((*KINDS, *ALWAYS))}")
    wanted = AuditFilter(user, client, kind, _since_ns(since))
    folder = audit_folder(data)
    if not folder.is_dir():
        raise JournalError(
            f"there is no audit in {data}: name the data folder with --data; a broker without "
            'users keeps an audit only with `keep = "always"` under [audit]'
        )
    reader = AuditReader(folder)
    end = reader.end_offset()
    found, _ = reader.page(wanted, most, end)
    for record in reversed(found):
        print(_line(record, as_json=as_json), flush=follow)
    while follow:
        for record in reader.after(end):
            end = record["offset"] + 1
            if wanted.takes(record):
                print(_line(record, as_json=as_json), flush=True)
        time.sleep(FOLLOW_S)


def _since_ns(text: str) -> int:
    from slipring.recording.moment import AtTime, parse_moment

    if not text:
        return 0
    moment = parse_moment(text, time.time_ns())
    if not isinstance(moment, AtTime):
        raise typer.BadParameter("write a time as 2026-01-02T03:04:05Z, or an age as -10m")
    return moment.receive_ns


def _line(record: dict[str, Any], *, as_json: bool) -> str:
    from slipring.cli.display import printable
    from slipring.recording.moment import format_time

    if as_json:
        return json.dumps(record)
    words = [format_time(record["at_ns"]), record["kind"].ljust(12), record["outcome"].ljust(7)]
    names = ("user", "client", "address", "listener", "proof", "right", "topic", "rule", "count")
    values = ((name, record.get(name)) for name in (*names, "detail"))
    shown = (
        f"{name}={printable(str(value))}"
        for name, value in values
        if value is not None and (name != "count" or value > 1)
    )
    return "  ".join([*words, *shown])

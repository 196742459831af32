"""`slipring journal archive` and `restore`: what an archive holds, and a journal made from it."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slipring.cli.display import counted, size
from slipring.cli.progress import ProgressDisplay

if TYPE_CHECKING:
    from rich.table import Table

    from slipring.archive.manifest import Manifest
    from slipring.archive.restore import Restored

Url = Annotated[
    str, typer.Argument(metavar="URL", help="The archive, as in `journal.archive`: s3://...")
]
AsJson = Annotated[bool, typer.Option("--json", help="As JSON, for programs.")]
SEGMENTS_SHOWN = 20


def archive(url: Url, *, as_json: AsJson = False) -> None:
    """Show what an archive has of a journal: offsets, times, segments. Reads its manifest only.

    Endpoint and keys are in the environment: AWS_ENDPOINT_URL, AWS_ACCESS_KEY_ID,
    AWS_SECRET_ACCESS_KEY, AWS_REGION.

    For example:

        slipring journal archive s3://telemetry/jets

        slipring journal archive s3://telemetry/jets --json | jq .end_offset
    """
    from slipring.archive.location import ArchiveLocation
    from slipring.archive.reader import ArchiveReader
    from slipring.cli import terminal_table

    reader = ArchiveReader(ArchiveLocation.of(url))
    if as_json:
        print(reader.manifest.to_json().decode())
    else:
        shown = _facts(reader.manifest, reader.location.url)
        terminal_table.show(shown, _segments(reader.manifest))


def restore(
    url: Url,
    data: Annotated[Path, typer.Option(help="Folder for the broker's data, without a journal.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Make a journal from an archive, for a broker on a new machine.

    Messages keep their offsets. What the old broker received after the archive's end is not in it;
    its offsets are given to no other message. An interrupted restore goes on when it is started
    again.

    For example:

        slipring journal restore s3://telemetry/jets --data slipring-data

        slipring serve --data slipring-data
    """
    from slipring.archive.location import ArchiveLocation
    from slipring.archive.restore import restore as bring
    from slipring.cli import terminal_table

    with ProgressDisplay("restoring", None, "bytes") as shown:
        restored = bring(ArchiveLocation.of(url), data, shown.tell_bytes)
    if as_json:
        print(json.dumps(_restored_json(restored), indent=2))
    else:
        terminal_table.show(_restored_facts(restored))


def _facts(manifest: "Manifest", url: str) -> "Table":
    from slipring.cli.terminal_table import facts

    first, end = manifest.first_offset, manifest.end_offset
    messages = counted(manifest.count(first, end), "message")
    segments = counted(len(manifest.segments), "segment")
    return facts(
        [
            ("archive", url),
            ("journal", manifest.journal),
            ("messages", f"{messages}, offsets {first:,} to {end:,}"),
            ("received", _span(manifest)),
            ("size", f"{size(manifest.total_bytes)} in {segments}"),
            ("state", "a snapshot" if manifest.snapshot else "none; it is read from the start"),
            ("definitions", "yes" if manifest.definitions else "none"),
            ("missing", _ranges(manifest.missing) or "nothing"),
            ("written", _time(manifest.updated_ns)),
        ]
    )


def _segments(manifest: "Manifest") -> "Table":
    from slipring.cli.terminal_table import table

    shown = table("segment", "+messages", "+size", "first received", "last received")
    for one in manifest.segments[-SEGMENTS_SHOWN:]:
        messages = f"{one.end_offset - one.first_offset:,}"
        shown.add_row(one.name, messages, size(one.bytes), _time(one.first_ns), _time(one.last_ns))
    if more := max(0, len(manifest.segments) - SEGMENTS_SHOWN):
        shown.caption = f"and {more:,} older ones"
    return shown


def _restored_facts(restored: "Restored") -> "Table":
    from slipring.cli.terminal_table import facts

    manifest = restored.manifest
    first, end = manifest.first_offset, manifest.end_offset
    state = "of the snapshot and the records after it, up to the archive's end"
    if not restored.has_state:
        state = "of the records in these segments: there was no snapshot"
    lost = (
        f"what the old broker received from offset {end:,} on: if it still runs, or its disk can "
        "be read, it has them; and how far consumers had read"
    )
    return facts(
        [
            ("journal", f"{manifest.journal} in {restored.folder}"),
            ("messages", f"{restored.messages:,}, offsets {first:,} to {end:,}"),
            ("received", _span(manifest)),
            ("sessions", f"and retained messages: {state}"),
            ("missing", _ranges(restored.missing) or "nothing before the archive's end"),
            ("not in it", lost),
            ("next", f"the next message gets offset {restored.next_offset:,}"),
        ]
    )


def _restored_json(restored: "Restored") -> dict[str, Any]:
    manifest = restored.manifest
    return {
        "folder": str(restored.folder),
        "journal": manifest.journal,
        "messages": restored.messages,
        "first_offset": manifest.first_offset,
        "end_offset": manifest.end_offset,
        "missing": restored.missing,
        "has_state": restored.has_state,
        "next_offset": restored.next_offset,
    }


def _ranges(ranges: list[tuple[int, int]]) -> str:
    return ", ".join(f"{first:,} to {end:,}" for first, end in ranges)


def _span(manifest: "Manifest") -> str:
    with_messages = manifest.with_messages
    if not with_messages:
        return "nothing"
    return f"{_time(with_messages[0].first_ns)} to {_time(with_messages[-1].last_ns)}"


def _time(ns: int | None) -> str:
    from slipring.recording.moment import format_time

    return "" if ns is None else f"{format_time(ns)[:23]}Z"

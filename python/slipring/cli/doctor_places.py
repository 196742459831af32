"""Checks of folders, files and ports that a broker would use. Keeps nothing, shows no secret."""

import errno
import os
import shutil
import socket
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from slipring.cli.display import counted, printable, size
from slipring.cli.doctor_finding import Finding, note, ok, wrong
from slipring.errors import SlipringError
from slipring.journal.location import journal_folder
from slipring.native import JournalReport, check_secret_file, journal_check

FREE_MIN, FREE_SPARSE = 500_000_000, 5_000_000_000
SYNCS = 20
SYNCS_S = 3.0
SLOW_MS = 20.0
SEGMENTS = 2
"""The last one may have no message yet."""
FLAWS_TOLD = 3


def disk(folder: Path) -> Iterator[Finding]:
    """Free space, and how long it takes until a write is safe."""
    there = next(one for one in (folder, *folder.absolute().parents) if one.is_dir())
    free = shutil.disk_usage(there).free
    said = f"{size(free)} free for {printable(str(folder))}"
    more = "make room, or choose another folder: slipring serve --data FOLDER"
    if free < FREE_MIN:
        yield wrong("disk", said, more)
    elif free < FREE_SPARSE:
        yield note("disk", said, more)
    else:
        yield ok("disk", said)
    if not os.access(there, os.W_OK | os.X_OK):
        yield wrong("disk sync", f"{there} cannot be written", f"chown it: you are {os.getuid()}")
        return
    yield _sync_speed(there)


def _sync_speed(folder: Path) -> Finding:
    times_ms, end_s = list[float](), time.monotonic() + SYNCS_S
    with tempfile.TemporaryFile(dir=folder) as file:
        while len(times_ms) < SYNCS and time.monotonic() < end_s:
            file.write(bytes(4096))
            file.flush()
            begun_s = time.monotonic()
            os.fsync(file.fileno())
            times_ms.append((time.monotonic() - begun_s) * 1e3)
    middle_ms = statistics.median(times_ms)
    said = f"a write is safe after {middle_ms:.1f} ms, at worst {max(times_ms):.1f} ms"
    if middle_ms > SLOW_MS:
        return note(
            "disk sync", said, "acknowledgements wait for it: take an SSD, or see durability"
        )
    return ok("disk sync", said)


def segment(folder: Path) -> Iterator[Finding]:
    """The last segment of the journal with messages, and the one after it: every checksum."""
    place = printable(str(folder))
    segments = sorted(journal_folder(folder).glob("*.seg"))[-SEGMENTS:]
    if not segments:
        yield ok("journal", f"none in {place} yet")
        return
    report = _checked(segments)
    flaws = [f"{one.name}: {one.flaw}" for one in report.segments if one.flaw]
    flaws += [f"{one.segment}, byte {one.position:,}: {one.why}" for one in report.damage]
    if flaws:
        remedy = f"slipring journal check {place} lists the damage, salvage copies what is whole"
        yield wrong("journal", printable("; ".join(flaws[:FLAWS_TOLD])), remedy)
        return
    said = f"its end is whole: {counted(report.messages, 'message')} from {segments[0].name} on"
    yield ok("journal", said)


def _checked(segments: list[Path]) -> JournalReport:
    """A check of these segments alone, through links: the whole journal may take minutes."""
    with tempfile.TemporaryDirectory() as links:
        for one in segments:
            for file in one.parent.glob(f"{one.stem}.*"):
                (Path(links) / file.name).symlink_to(file.absolute())
        return journal_check(links)


def ports(addresses: dict[str, str]) -> Iterator[Finding]:
    """Whether the ports of a broker are free, else who has them."""
    for name, address in addresses.items():
        host, _, port = address.rpartition(":")
        if port.isdigit() and int(port):
            yield _port(f"port {port}", name, host.strip("[]") or "127.0.0.1", int(port))


def _port(title: str, name: str, host: str, port: int) -> Finding:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as asking:
        asking.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            asking.bind((host, port))
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                said = f"{name} cannot listen on {host}:{port}: {error.strerror}"
                return wrong(title, said, f"choose another address: slipring serve --{name}")
            return _port_taken(title, name, port)
    return ok(title, f"free for {name}")


def _port_taken(title: str, name: str, port: int) -> Finding:
    owner = _owner_of(port)
    if owner is not None and "slipring" in owner:
        return ok(title, f"in use by {owner}")
    said = f"in use by {owner}" if owner else "in use; by whom, only its owner or root may see"
    remedy = f"end it, or choose another: slipring serve --{name} 127.0.0.1:0"
    return note(title, said, remedy)


def _owner_of(port: int) -> str | None:
    """The program that listens on a port, if this user may see it."""
    wanted = {f"socket:[{inode}]" for inode in _listening(port)}
    if not wanted:
        return None
    for process in Path("/proc").glob("[0-9]*"):
        try:
            links = {str(one.readlink()) for one in (process / "fd").iterdir()}
            if links & wanted:
                words = (process / "cmdline").read_bytes().decode(errors="replace").split("\0")
                return f"{_program(words)} (process {process.name})"
        except OSError:
            continue
    return None


def _program(words: list[str]) -> str:
    """What a person calls it; not its arguments, which may have a secret."""
    if any(Path(word).name == "slipring" for word in words[:3]):
        return "slipring"
    return printable(Path(words[0]).name)


def _listening(port: int) -> Iterator[str]:
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        try:
            lines = Path(table).read_text(encoding="ascii").splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            columns = line.split()
            if columns[3] == "0A" and int(columns[1].rpartition(":")[2], 16) == port:
                yield columns[9]


def secret_files(files: dict[str, Path]) -> Iterator[Finding]:
    """Whether files with secrets are there, and for their owner alone."""
    for name, path in files.items():
        try:
            check_secret_file(path)
        except (SlipringError, OSError) as error:
            remedy = f"chmod 600 {printable(str(path))}, as the user that runs the program"
            yield wrong(name, printable(str(error)), remedy)
        else:
            yield ok(name, f"{printable(str(path))} is for its owner alone")

"""`slipring pipeline run`: carries the journal into the lake until it is stopped."""

import signal
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from slipring.journal.location import JournalBroker
from slipring.pipeline import run

if TYPE_CHECKING:
    from slipring.pipeline.destination import LakeCommit


def journal_at(
    data: Path, broker: str | None, user: str | None, ca: str | None
) -> Path | JournalBroker:
    """The journal of a folder, or of a broker elsewhere."""
    if broker is None:
        return data / "journal"
    given = {"user": user, "ca": ca}
    return JournalBroker.from_options(broker, {name: text for name, text in given.items() if text})


def run_pipeline(  # noqa: PLR0913 (every option has its name at the call)
    journal: Path | JournalBroker,
    lake: Path,
    *,
    trigger_ms: int,
    once: bool,
    master: str,
    consumer: str,
    keep_bytes: int | None,
) -> None:
    """Run until Ctrl-C or SIGTERM; with `once` until all messages are in the lake."""
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    source = journal if isinstance(journal, Path) else journal.url
    print(f"slipring pipeline: {source} to {lake / 'messages'}", flush=True)
    run(
        journal=journal,
        lake=lake,
        trigger_ms=trigger_ms,
        once=once,
        master=master,
        stop=stop,
        on_batch=_tell,
        on_step=_tell_step,
        consumer=consumer,
        keep_bytes=keep_bytes,
    )


def _tell_step(step: str) -> None:
    print(f"  {step}", flush=True)


def _tell(batch: "LakeCommit") -> None:
    print(f"{batch.rows:>9,} messages into the lake, up to offset {batch.end:,}", flush=True)

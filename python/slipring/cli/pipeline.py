"""`slipring pipeline run`: the journal into the lake, until told to stop."""

import signal
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from slipring.pipeline import run

if TYPE_CHECKING:
    from slipring.pipeline.ingest import Committed


def run_pipeline(
    data: Path, lake: Path | None, *, trigger_ms: int, once: bool, master: str, consumer: str
) -> None:
    """Run until Ctrl-C or SIGTERM, or until all is taken with `once`."""
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    lake = lake or data / "lake"
    print(f"slipring pipeline: {data / 'journal'} to {lake / 'messages'}", flush=True)
    run(
        journal=data / "journal",
        lake=lake,
        trigger_ms=trigger_ms,
        once=once,
        master=master,
        stop=stop,
        on_batch=_tell,
        consumer=consumer,
    )


def _tell(batch: "Committed") -> None:
    print(f"{batch.rows:>9,} messages into the lake, up to offset {batch.end:,}", flush=True)

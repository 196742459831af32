"""Derives in batches of offsets and kills itself with SIGKILL at a step.

Usage: killed_derive.py URL LAKE STEP; the steps are `computed`, `kept`, those of the publisher, and
`end`, at which nothing is killed.
"""

import os
import signal
import sys
from pathlib import Path
from typing import Any

from slipring.journal.location import JournalBroker
from slipring.lake.storage import LakeLocation
from slipring.pipeline.derive_job import DeriveJob
from slipring.pipeline.derive_store import DeriveStore
from slipring.pipeline.session import own_session
from slipring.publication import publisher, sample_frames
from slipring.publication.publisher import BatchPublisher, PublicationTarget
from tests.pipeline.derive_history import JOURNAL, MESSAGES, derivations, samples_between

BATCH = 120


class KilledStore(DeriveStore):
    """Dies before or after a commit to the lake."""

    def commit(self, *given: Any) -> None:
        if self.position() is not None:
            die_at("computed")
        super().commit(*given)
        if self.position() != BATCH:
            die_at("kept")


def die_at(step: str) -> None:
    if step == sys.argv[3]:
        os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    publisher.SEND_MESSAGES = 2
    sample_frames.FRAME_SAMPLES_MAX = 20
    url, lake = sys.argv[1], Path(sys.argv[2])
    store = KilledStore(LakeLocation.of(lake), JOURNAL, lake / "_derive")
    defined = {one.name: one.definition for one in derivations()}
    target = PublicationTarget(JournalBroker(url), "derive", parameters=defined)
    with own_session("local[2]") as spark:
        job = DeriveJob(derivations(), store, BatchPublisher(target, lake / "_bus", die_at))
        position = job.position() or 0
        # Other batches than before: Spark may cut them as it likes.
        width = BATCH if sys.argv[3] != "end" else 77
        for start in range(position, MESSAGES, width):
            job.write(
                lambda a, b: samples_between(spark, a, b), start, min(start + width, MESSAGES)
            )
        job.finish()

"""`slipring ...`, where a small backlog is a long one and compaction has always work to do.

Prints `compacting` when compaction begins to merge files. Its arguments are those of `slipring`.
"""

import sys
from typing import Any

from slipring.cli import main
from slipring.lake import compaction, upkeep
from slipring.pipeline import catch_up, ingest

BATCH_BYTES = 2_000


def tell_and_compact(*given: Any) -> Any:
    sys.stdout.write("compacting\n")
    sys.stdout.flush()
    return compaction.compact(*given)


if __name__ == "__main__":
    changed: Any = (catch_up, ingest, compaction, upkeep)
    changed[0].BYTES_MAX = 0
    changed[1].BATCH_BYTES_MAX = BATCH_BYTES
    changed[2].GATHERED_CHAINS = 2
    changed[3].compact = tell_and_compact
    main()

"""The memory of a Python worker that reads journals for Spark. Must never import pyspark.

Nothing but a worker calls it.
"""

import gc
from functools import cache


@cache
def settle() -> None:
    """Take all objects that exist now out of garbage collection, once in a process.

    Spark collects garbage after every task. A worker knows the definitions of all parameters; to
    look through 20,000 of them took half of the time of a task with 350,000 samples.
    """
    gc.collect()
    gc.freeze()

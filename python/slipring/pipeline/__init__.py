"""The jobs that carry the journal into the lake. Importing this is quick: Spark is loaded by `run`.

May use `spark`, `native`, `model` and `errors`; must never use the broker's rooms.
"""

from slipring.pipeline.job import run

__all__ = ["run"]

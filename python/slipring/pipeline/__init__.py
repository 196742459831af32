"""The job that carries a journal into the lake. Quick to import: `run` loads Spark if it needs it.

Reaches Spark's source by its format name only; must never use the broker's rooms.
"""

from slipring.pipeline.job import run

__all__ = ["run"]

"""Frames as arrays, for numpy, Arrow and pandas. Never a step per sample in Python."""

from slipring.frames.arrow import SCHEMA
from slipring.frames.frame import Frame, Samples
from slipring.frames.newest import Newest
from slipring.frames.run import Run
from slipring.frames.table import Table

__all__ = ["SCHEMA", "Frame", "Newest", "Run", "Samples", "Table"]

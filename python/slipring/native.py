"""The only importer of slipring._native: all that Python uses of Rust comes through here."""

from slipring import _native
from slipring._native import *  # noqa: F403 (its stub lists the names)

version = _native.__version__

"""The only importer of slipring._native: all that Python uses of Rust comes through here."""

from slipring._native import *  # noqa: F403 (its stub lists the names)
from slipring._native import __version__

version = __version__

"""Recorded messages: out of a journal into files, back in, and played again with their timing.

Knows journals, files and a client's connection; must never know the broker, Spark or a terminal.
"""

from slipring.recording.journal import Recording, journal_folder
from slipring.recording.moment import Moment, parse_moment

__all__ = ["Moment", "Recording", "journal_folder", "parse_moment"]

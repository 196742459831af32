"""What parameters were at any time: from the table, the journal and the lake, as one.

Reads only: it never writes, and whoever asks need not know which of them has the time.
"""

from slipring.history.history import History
from slipring.history.question import HistoryQuestion

__all__ = ["History", "HistoryQuestion"]

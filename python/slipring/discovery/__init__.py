"""Finding brokers: by a question over UDP, and by mDNS. Proves nothing about who answers.

What goes over the network is in docs/discovery.md.
"""

from slipring.discovery.discover import discover
from slipring.discovery.found import FoundBroker

__all__ = ["FoundBroker", "discover"]

"""Finding brokers: by a question over UDP, and by mDNS. An answer proves nothing about its sender.

docs/discovery.md describes the datagrams.
"""

from slipring.discovery.discover import discover
from slipring.discovery.found import FoundBroker

__all__ = ["FoundBroker", "discover"]

"""The only importer of slipring._native: everything Rust gives Python passes here."""

from slipring._native import (
    Buffer,
    Client,
    ConnectedClient,
    Engine,
    Event,
    JournalColumns,
    JournalReader,
    JournalStatus,
    JournalWriter,
    Listener,
    Plan,
    PrefixTraffic,
    Status,
    Totals,
    Value,
    check_verifier,
    make_verifier,
)
from slipring._native import __version__ as version

__all__ = [
    "Buffer",
    "Client",
    "ConnectedClient",
    "Engine",
    "Event",
    "JournalColumns",
    "JournalReader",
    "JournalStatus",
    "JournalWriter",
    "Listener",
    "Plan",
    "PrefixTraffic",
    "Status",
    "Totals",
    "Value",
    "check_verifier",
    "make_verifier",
    "version",
]

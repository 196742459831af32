"""The console's web back end: an HTTP API and a live page. Shows; has no rules of its own."""

from slipring.console.server import ConsoleServer

__all__ = ["ConsoleServer"]

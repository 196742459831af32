"""Slipring: telemetry from machines that move to people who stand still."""

from slipring.native import version as __version__

__all__ = ["__version__"]

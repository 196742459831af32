"""The only importer of the compiled module. Re-exports, and does nothing else."""

from slipring._native import Client

__all__ = ["Client"]

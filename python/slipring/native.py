"""The only importer of slipring._native: everything Rust gives Python passes here."""

from slipring._native import Buffer, JournalColumns, JournalReader, JournalWriter

__all__ = ["Buffer", "JournalColumns", "JournalReader", "JournalWriter"]

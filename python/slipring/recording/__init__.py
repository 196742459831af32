"""Recorded messages: out of a journal into files, back in, and played again with their timing.

Knows journals, files and a client's connection; must never know the broker, PySpark or a terminal.
"""

"""Recorded messages: from a journal into files, back, and played again with their timing.

Knows journals, files and a client's connection; must never know the broker, PySpark or a terminal.
"""

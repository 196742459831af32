"""Samples of parameters between journals and files: long and wide tables, MCAP, and back.

Knows frames, a recording and a client's connection. Never a step per sample for numbers.
"""

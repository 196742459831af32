"""Samples of parameters between journals and files: long and wide tables, MCAP, and back.

`read` takes samples out of a recording or a file, `shape` arranges them as arrays, `write` puts
them into a file or into frames; `export`, `importing` and `translation` connect the three. Never a
step per sample for numbers.
"""

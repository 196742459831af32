"""Samples arranged as arrays: by arrival, by time, as rows of a table. Pure: knows no file."""

"""Dictionaries: files that describe parameters, read and checked. Never talks to a broker."""

from slipring.dictionary.csv_file import write_csv
from slipring.dictionary.load import Dictionary, load, read
from slipring.dictionary.problem import Problem, Severity

__all__ = ["Dictionary", "Problem", "Severity", "load", "read", "write_csv"]

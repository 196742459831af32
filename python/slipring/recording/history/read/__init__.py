"""Samples out of a recording, or out of a file that another program may have written."""

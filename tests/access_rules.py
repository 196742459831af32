"""Rules of access for brokers of tests, as they stand in a config file."""

ALL = """
[console]
allow_anonymous = true

[[access.rule]]
who = ["anyone"]
allow = ["publish", "subscribe", "retain", "declare", "select", "stream", "request", "serve",
    "journal", "watch"]
"""
"""Everybody may do all that a client does, and watch without a login; nobody is an operator."""

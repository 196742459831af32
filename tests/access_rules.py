"""Rules of access for brokers of tests, as they stand in a config file."""

ALL = """
[[access.rule]]
who = ["anyone"]
allow = ["publish", "subscribe", "retain", "declare", "select", "stream", "request", "serve",
         "journal"]
"""
"""Everybody may do everything that a client does; nobody is an operator."""

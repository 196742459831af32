"""Batches of rows on the bus, each once, whatever is killed and whenever (decision 0072).

Knows the client and the journal; must never import Spark or the broker's rooms.
"""

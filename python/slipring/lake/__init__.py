"""The lake: Delta tables in a folder or in S3-compatible storage, written and read by delta-rs.

Must never import PySpark or a room of the broker.
"""

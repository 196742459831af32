"""Sealed segments of a journal in S3-compatible storage: sent there, read there, and brought back.

The only room that knows object storage by its own requests. Must never know the broker or Spark.
"""

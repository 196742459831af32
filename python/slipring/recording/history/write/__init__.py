"""Samples into files (CSV, Parquet, MCAP) and into frames for a broker. Never reads a file."""

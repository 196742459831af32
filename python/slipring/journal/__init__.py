"""A journal read as Arrow columns, from a folder or from a broker over the network.

Every room that reads journals reads them through this one. Must never know PySpark, the files of an
export or the broker.
"""

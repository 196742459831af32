"""The log at log servers: GELF, syslog, OpenTelemetry. It never waits for a server, and never keeps
more than a bounded number of lines for one.
"""

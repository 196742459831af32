"""The log line about the limit on open files. Pure."""

import logging


def log_line(most: int, for_clients: int, connections: int) -> tuple[int, str]:
    """How many clients the process has descriptors for; `connections` is `limits.connections`."""
    if for_clients >= connections:
        return logging.INFO, (
            f"descriptors: the process may have {most:,}, of which {for_clients:,} are for clients"
        )
    return logging.WARNING, (
        f"descriptors: limits.connections is {connections:,}, but there are only {for_clients:,} "
        f"for clients: the process may have {most:,}. Raise it (`ulimit -Hn`, LimitNOFILE= of a "
        "systemd unit), or lower limits.connections"
    )

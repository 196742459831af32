"""What the limit on open files allows, as a person reads it. Pure."""

import logging


def tell(most: int, for_clients: int, connections: int) -> tuple[int, str]:
    """Say how many clients the process has descriptors for; `connections` is the limit on them."""
    if for_clients >= connections:
        return logging.INFO, (
            f"descriptors: the process may have {most:,}, of which {for_clients:,} are for clients"
        )
    return logging.WARNING, (
        f"descriptors: limits.connections is {connections:,}, but there are only {for_clients:,} "
        f"for clients: the process may have {most:,}. Raise it (`ulimit -Hn`, LimitNOFILE= of a "
        "systemd unit), or lower limits.connections"
    )

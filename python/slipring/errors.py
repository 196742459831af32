"""Every exception Slipring raises. Says what happened, where, and what to do; never logs."""


class SlipringError(Exception):
    """The root: catch it to catch everything Slipring raises on purpose."""


class ConnectError(SlipringError):
    """No connection to the broker: a wrong address, nothing there, or refused."""


class ConnectionLost(SlipringError):
    """The connection to the broker is no more."""


class InvalidTopic(SlipringError, ValueError):
    """Not a topic to publish to, or not a filter to subscribe to."""


class Refused(SlipringError):
    """The broker or this client did not take a message or a subscription, or it is over a limit."""

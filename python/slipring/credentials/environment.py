"""The variables of the environment that hold credentials."""

USER = "SLIPRING_USER"
PASSWORD = "SLIPRING_PASSWORD"  # noqa: S105 (the name of a variable)
TOKEN = "SLIPRING_TOKEN"  # noqa: S105 (the name of a variable)
TOKEN_FILE = "SLIPRING_TOKEN_FILE"  # noqa: S105 (the name of a variable)
AUTHENTICATION = "SLIPRING_AUTHENTICATION"

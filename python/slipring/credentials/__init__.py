"""What a client proves its name with: passwords, tokens, where they come from. Shows no secret."""

from slipring.credentials.broker_credentials import (
    NO_CREDENTIALS,
    Authentication,
    BrokerCredentials,
)
from slipring.credentials.environment import (
    AUTHENTICATION,
    PASSWORD,
    TOKEN,
    TOKEN_FILE,
    USER,
)
from slipring.credentials.plain_text import warn_of_plain_text
from slipring.credentials.spark_options import OPTION_NAMES, from_options
from slipring.credentials.token_callback import TokenSource
from slipring.credentials.token_end import token_end_s, token_left_s, token_user

__all__ = [
    "AUTHENTICATION",
    "NO_CREDENTIALS",
    "OPTION_NAMES",
    "PASSWORD",
    "TOKEN",
    "TOKEN_FILE",
    "USER",
    "Authentication",
    "BrokerCredentials",
    "TokenSource",
    "from_options",
    "token_end_s",
    "token_left_s",
    "token_user",
    "warn_of_plain_text",
]

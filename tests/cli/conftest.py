"""Brokers and files for the tests of commands, as tests of the client and dictionaries use them."""

from tests.client.conftest import broker_url
from tests.client.table_broker import table_url
from tests.dictionary.conftest import written

__all__ = ["broker_url", "table_url", "written"]

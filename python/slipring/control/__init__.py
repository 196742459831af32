"""The control plane: decides per connection, policy and person; never touches a message."""

from slipring.control.broker import Broker
from slipring.control.config import Config, load_config
from slipring.control.overview import Overview

__all__ = ["Broker", "Config", "Overview", "load_config"]

"""The demo: everything at once, with a simulated aircraft. Uses the product as anyone would."""

from slipring.demo.show import run_demo

__all__ = ["run_demo"]

"""The demo: the whole product with a simulated aircraft. Uses it as anyone else would."""

from slipring.demo.run import run_demo

__all__ = ["run_demo"]

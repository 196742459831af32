"""A simulated jet: 20,000 typed parameters, fifty times a second, in flights that repeat."""

from slipring.demo.jet.aircraft import PREFIX, Jet, Moment

__all__ = ["PREFIX", "Jet", "Moment"]

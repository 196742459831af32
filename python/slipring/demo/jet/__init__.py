"""A simulated jet: 20,000 typed parameters at 50 Hz, in flights that repeat."""

from slipring.demo.jet.aircraft import PREFIX, FlightStep, Jet

__all__ = ["PREFIX", "FlightStep", "Jet"]

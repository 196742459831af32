"""Slipring: telemetry from machines that move to people who stand still."""

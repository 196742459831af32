"""The command line: parse, call, print. Every error is one line on standard error."""

import sys

from slipring.errors import SlipringError

INTERRUPTED = 130
EXTRA_OF = {
    "cantools": "dbc",
    "deltalake": "lake",
    "matplotlib": "plot",
    "obstore": "archive",
    "opentelemetry": "otlp",
    "pandas": "spark",
    "polars": "polars",
    "pyspark": "spark",
}
"""What `pip install slipring` leaves out, by package, and the extra that brings it."""


def main() -> None:
    """Run a command; the entry point of `slipring`."""
    from slipring.cli.app import app

    try:
        app()
    except SlipringError as error:
        print(f"slipring: {error}", file=sys.stderr)
        sys.exit(1)
    except OSError as error:
        if error.filename is None:  # a mistake of ours: the trace says where
            raise
        print(f"slipring: {error.filename}: {error.strerror}", file=sys.stderr)
        sys.exit(1)
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in EXTRA_OF:
            raise
        needed = f"this needs {package}, which is not installed"
        print(f"slipring: {needed}: pip install 'slipring[{EXTRA_OF[package]}]'", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)

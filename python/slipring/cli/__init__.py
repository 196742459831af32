"""The command line: parse, call, print. Every error is one line on standard error."""

import sys

from slipring.errors import SlipringError

INTERRUPTED = 130


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
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)

"""`python -m slipring` is `slipring`."""

from slipring.cli import main

if __name__ == "__main__":
    main()

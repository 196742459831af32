#!/usr/bin/env bash
# Fails unless pyright knows the type of every public name of slipring, and shows those it does not know. It fetches
# nothing: pyright and node are in the packages.
set -uo pipefail
cd "$(dirname "$0")/.."
# pyright asks the first python of the path where other packages are.
export PATH="$PWD/.venv/bin:$PATH" PYRIGHT_PYTHON_USE_BUNDLED_PYRIGHT=1 PYRIGHT_PYTHON_IGNORE_WARNINGS=1 PYTHONPATH=python
told=$(.venv/bin/pyright --verifytypes slipring --ignoreexternal)
status=$?
sed '1,/^Symbols used in public interface/d' <<<"$told"
exit $status

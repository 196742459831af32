#!/usr/bin/env bash
# Creates .venv afresh, with the pinned uv that fills it.
set -euo pipefail
cd "$(dirname "$0")/.."
"$(scripts/find-python.sh)" -m venv --clear .venv
.venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-uv.lock
touch .venv/bin/uv

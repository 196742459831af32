#!/usr/bin/env bash
# Prints the first Python that can make our virtual environment: 3.11 or newer, with venv and pip in it.
# PYTHON=/path/to/python chooses one.
set -euo pipefail
for name in ${PYTHON:-python3 python3.14 python3.13 python3.12 python3.11}; do
  if "$name" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    command -v "$name"
    exit
  fi
done
exit 1

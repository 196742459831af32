#!/usr/bin/env bash
# Regenerates the lock files from pyproject.toml, Cargo.toml and web/package.json. Versions stay as they are locked,
# unless UPGRADE=1 asks for the newest. No lock file names the host a package comes from.
set -euo pipefail
cd "$(dirname "$0")/.."

upgrade=()
if [[ -n ${UPGRADE:-} ]]; then upgrade=(--upgrade); fi
compile=(.venv/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header)

"${compile[@]}" "${upgrade[@]}" pyproject.toml --extra spark --group dev --output-file requirements.lock
uv_line=$(grep -o '^uv==[0-9.]*' requirements-uv.lock)
if [[ -n ${UPGRADE:-} ]]; then uv_line=uv; fi
"${compile[@]}" "${upgrade[@]}" - --no-annotate --output-file requirements-uv.lock <<<"$uv_line"

if [[ -n ${UPGRADE:-} ]]; then cargo update; else cargo update --workspace; fi

npm=(scripts/with-node.sh npm --prefix web --no-audit --no-fund --omit-lockfile-registry-resolved)
if [[ -n ${UPGRADE:-} ]]; then "${npm[@]}" update --package-lock-only; fi
"${npm[@]}" install --package-lock-only

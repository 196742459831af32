#!/usr/bin/env bash
# Regenerates the lock files from pyproject.toml, Cargo.toml and web/package.json. Versions stay as they are locked,
# unless UPGRADE=1 asks for the newest. No lock file names the host a package comes from.
set -euo pipefail
cd "$(dirname "$0")/.."

upgrade=()
uv_wanted=$(grep -o '^uv==[0-9.]*' requirements-uv.lock)
if [[ -n ${UPGRADE:-} ]]; then
  upgrade=(--upgrade)
  uv_wanted=uv
fi

# compile FILE SOURCE...: a file that stays the same keeps its time, so that nothing is installed again.
compile() {
  local file=$1 before
  shift
  before=$(mktemp)
  cp --preserve=timestamps "$file" "$before"
  .venv/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header \
    "${upgrade[@]}" --output-file "$file" "$@"
  if cmp --quiet "$file" "$before"; then touch --reference="$before" "$file"; fi
  rm "$before"
}

compile requirements.lock pyproject.toml --extra spark --extra dbc --extra archive --extra lake --extra otlp --extra plot --extra polars --group dev
compile requirements-uv.lock --no-annotate - <<<"$uv_wanted"

if [[ -n ${UPGRADE:-} ]]; then cargo update; else cargo update --workspace; fi

npm=(scripts/npm.sh --no-audit --no-fund --omit-lockfile-registry-resolved --package-lock-only)
if [[ -n ${UPGRADE:-} ]]; then "${npm[@]}" update; fi
"${npm[@]}" install

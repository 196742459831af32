#!/usr/bin/env bash
# step.sh [--quiet] LABEL COMMAND...: says what is being done, does it, and says how long it took if that was long.
# A quiet step shows its output only if it fails.
set -uo pipefail
quiet=
if [[ $1 == --quiet ]]; then
  quiet=yes
  shift
fi
label=$1
shift
# make's tokens for parallel steps are not handed on to a step: cargo would look for them and complain.
unset MAKEFLAGS MFLAGS

echo "==> $label"
if [[ $quiet ]]; then
  log=$(mktemp)
  trap 'rm -f "$log"' EXIT
  "$@" >"$log" 2>&1
else
  "$@"
fi
status=$?
if ((status != 0)); then
  if [[ $quiet ]]; then cat "$log" >&2; fi
  echo "==> $label: failed after $SECONDS s" >&2
elif ((SECONDS > 1)); then
  echo "    $label: $SECONDS s"
fi
exit $status

#!/usr/bin/env bash
# step.sh LABEL COMMAND...: says what is being done, does it, and says how long it took if that was long.
set -uo pipefail
label=$1
shift
echo "==> $label"
"$@"
status=$?
if ((status != 0)); then
  echo "==> $label: failed after $SECONDS s" >&2
elif ((SECONDS > 1)); then
  echo "    $label: $SECONDS s"
fi
exit $status

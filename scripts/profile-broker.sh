#!/usr/bin/env bash
# Where the broker's CPU time goes: perf over `slipring serve` while slipring-load runs against it.
#
#   scripts/profile-broker.sh                                 the default load: 1 publisher, 1 subscriber
#   scripts/profile-broker.sh pairs --messages 5000           any command of slipring-load, without the address
#   TOPICS='"#"' scripts/profile-broker.sh                    with a journal of everything
#   CALLS=1 scripts/profile-broker.sh                         with callers for `perf report`; costs the broker more
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$PATH:$HOME/.cargo/bin"

command -v perf >/dev/null || { echo "perf is needed: apt-get install linux-perf" >&2; exit 1; }
[[ $# -gt 0 ]] || set -- throughput --messages 5000000
data=.build/profile.data
folder=$(mktemp -d)
broker= recorder=

finish() {
  [[ -z $recorder ]] || { kill -INT "$recorder" 2>/dev/null; wait "$recorder"; } || true
  [[ -z $broker ]] || { kill "$broker" 2>/dev/null; wait "$broker"; } || true
  rm -rf "$folder"
}
trap finish EXIT

# The module of the package is stripped; this one stays there until the next change of a crate.
VIRTUAL_ENV=$PWD/.venv UV_OFFLINE=1 .venv/bin/maturin develop --quiet --profile profiling --locked --uv
cargo build --quiet --release --locked -p slipring-load
printf '[limits]\nconnections = 30000\n[journal]\ntopics = [%s]\n' "${TOPICS-}" >"$folder/broker.toml"
mkfifo "$folder/ready"
.venv/bin/python -m slipring serve --config "$folder/broker.toml" --data "$folder/data" \
  --mqtt 127.0.0.1:0 --console off >"$folder/ready" 2>"$folder/log" &
broker=$!
read -r ready <"$folder/ready" || { cat "$folder/log" >&2; exit 1; }
address=${ready#*mqtt=}
address=${address%% *}

mkdir -p .build
# Virtual machines often have no cycle counter; the clock always works.
perf record --quiet --event cpu-clock --freq 1999 ${CALLS:+--call-graph dwarf,4096} \
  --output "$data" --pid "$broker" &
recorder=$!
target/release/slipring-load "$1" "$address" "${@:2}"
kill -INT "$recorder"
wait "$recorder" || true
recorder=

perf report --input "$data" --no-children --percent-limit 0.7 --sort symbol --stdio --call-graph none \
  2>/dev/null | grep -v '^#' | grep -v '^$' | sed 's/ *- *- *$//' | head -40
echo "more: perf report --input $data"

#!/usr/bin/env bash
# fuzz.sh SECONDS [TARGET...]: runs each fuzz target that long, all of them if none is named. What a run learns stays in
# .build/fuzz; an input that breaks a law is kept in .build/fuzz/found, and the status is 1. See fuzz/README.md.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=$1
shift
targets=("$@")
if ((${#targets[@]} == 0)); then
  for folder in fuzz/corpus/*/; do targets+=("$(basename "$folder")"); done
fi

# Coverage for libFuzzer from a stable compiler. Naming the machine keeps it out of build scripts; the optimiser is on,
# and so are the checks for overflow.
passes=(-C passes=sancov-module -C codegen-units=1 -C debug-assertions=on)
for pass in level=4 inline-8bit-counters pc-table trace-compares; do passes+=(-C "llvm-args=-sanitizer-coverage-$pass"); done
machine=$(rustc -vV | sed -n 's/^host: //p')
RUSTFLAGS="${passes[*]}" CARGO_PROFILE_RELEASE_LTO=off cargo build --quiet --release --locked --package slipring-fuzz \
  --features libfuzzer --target "$machine" --target-dir .build/fuzz/target

status=0
mkdir -p .build/fuzz/found
for target in "${targets[@]}"; do
  mkdir -p ".build/fuzz/corpus/$target"
  log=.build/fuzz/$target.log
  if FUZZ_TARGET=$target ".build/fuzz/target/$machine/release/slipring-fuzz" ".build/fuzz/corpus/$target" \
    "fuzz/corpus/$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 \
    -artifact_prefix=".build/fuzz/found/$target-" >"$log" 2>&1; then
    echo "    $target: $(grep -oE 'Done [0-9]+ runs' "$log"), $(grep -oE 'cov: [0-9]+' "$log" | tail -n 1)"
  else
    status=1
    echo "    $target: a law is broken" >&2
    grep -E -A 8 'panicked at|ERROR:|Test unit written' "$log" >&2 || tail -n 20 "$log" >&2
  fi
done
exit $status

#!/usr/bin/env bash
# try-container.sh [podman|docker] [OPTION OF RUN ...]: builds the Containerfile, runs the image, and looks at what operate.md says of it.
# Needs the program and the internet, ten minutes and 8 GB; it removes the container and its volume, and keeps the image.
set -euo pipefail
cd "$(dirname "$0")/.."
engine=${1:-podman}
shift $(($# > 0))
name=slipring-try-$$
folder=$(mktemp -d)
trap '"$engine" rm --force "$name" >/dev/null 2>&1; "$engine" volume rm "$name" >/dev/null 2>&1; rm -rf "$folder"' EXIT
format=(--format docker)
[ "$engine" = podman ] || format=()
printf 'allow_anonymous = true\n\n[mqtt]\nlisten = "0.0.0.0:1883"\n' >"$folder/broker.toml"

"$engine" build "${format[@]}" --tag slipring --file Containerfile .
inside() { "$engine" run --rm "$@" ; }
asked() { inside "${options[@]}" --network "container:$name" --entrypoint "$1" slipring "${@:2}"; }
answers() { for _ in {1..60}; do asked /opt/slipring/bin/slipring ping --count 1 >/dev/null 2>&1 && return; sleep 0.5; done; false; }
options=("$@")

"$engine" run --detach --name "$name" "${options[@]}" --volume "$name:/var/lib/slipring" \
  --volume "$folder/broker.toml:/etc/slipring/broker.toml:ro" slipring >/dev/null
answers
asked /opt/slipring/bin/slipring pub --qos 1 --retain gripen/39-7/state ready
[ "$(asked /usr/bin/id --user)" = 10001 ]
asked /bin/sh -c '! touch /usr/x /opt/slipring/x 2>/dev/null'
asked /opt/slipring/bin/python -c "import os, urllib.request; urllib.request.urlopen(os.environ['SLIPRING_READY'], timeout=4)"
"$engine" kill --signal HUP "$name" >/dev/null
"$engine" stop "$name" >/dev/null
[ "$("$engine" inspect --format '{{.State.ExitCode}}' "$name")" = 0 ]
"$engine" start "$name" >/dev/null
answers
asked /opt/slipring/bin/slipring sub --count 1 'gripen/#' | grep --quiet ready
echo "built, started, healthy, stopped and started again with its data: as it has to be"

#!/usr/bin/env bash
# outside-suites.sh FOLDER: brings the test suites that others wrote, pinned by their checksums, from the Debian archive
# that this machine's apt uses. OUTSIDE_SUITES=DIRECTORY takes the two archives from there instead.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$1

suites="
mosquitto pool/main/m/mosquitto/mosquitto_2.0.21.orig.tar.gz 551daff96cd0675faf888f8881536177934424ecc45924fecf94cffe207f6e81
paho pool/main/p/python-paho-mqtt/python-paho-mqtt_2.1.0.orig.tar.gz 3602ce9d1ada58b063f2052ff013ff8cdd06d66cef918d5f6d048b6f68ccf049
"

archives() {
  if ! command -v apt-get >/dev/null; then return; fi
  apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | sort -u
}

# get PATH CHECKSUM FILE: from the first place that has it. apt's own downloader knows the machine's proxies.
get() {
  local archive
  if [[ -n ${OUTSIDE_SUITES:-} ]]; then
    cp "$OUTSIDE_SUITES/$(basename "$1")" "$3" && sha256sum --check --quiet <<<"$2  $3"
    return
  fi
  for archive in $(archives); do
    if /usr/lib/apt/apt-helper download-file "${archive%/}/$1" "$3" "SHA256:$2"; then return 0; fi
  done
  return 1
}

rm -rf "$folder"
mkdir -p "$folder"
while read -r name path checksum; do
  if [[ -z $name ]]; then continue; fi
  if ! get "$path" "$checksum" "$folder/$name.tar.gz"; then
    echo "no archive of apt has $path with the right checksum; put it into a directory and set OUTSIDE_SUITES to that" >&2
    exit 1
  fi
  mkdir "$folder/$name"
  tar --extract --gzip --file "$folder/$name.tar.gz" --directory "$folder/$name" --strip-components 1
done <<<"$suites"

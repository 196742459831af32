#!/usr/bin/env bash
# system-needs.sh NEED...: makes sure that the machine has what is named, out of
#   python cc cxx cargo rust-lint java chromium mosquitto nats openssl systemd man
# Root gets what is missing from apt. Anyone else is told the command to run, and the status is 1.
set -euo pipefail
cd "$(dirname "$0")/.."

rust_min=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
java_min=17
rustup_command="curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y"

# --- what is here already

at_least() { [[ $(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1) == "$1" ]]; }

program_version() { { "$@" 2>&1 || true; } | grep -oE '[0-9]+(\.[0-9]+)+' | head -n 1 || true; }

on_path() {
  local program
  for program in "$@"; do
    if command -v "$program" >/dev/null; then return 0; fi
  done
  return 1
}

has_python() { scripts/find-python.sh >/dev/null; }
has_cc() { on_path cc; }
has_cxx() { on_path c++; }
has_cargo() { on_path cargo && on_path rustc && at_least "$rust_min" "$(program_version cargo --version)"; }
has_rust-lint() { cargo clippy --version && cargo fmt --version; } >/dev/null 2>&1
has_java() {
  local java=java
  if [[ -n ${JAVA_HOME:-} ]]; then java=$JAVA_HOME/bin/java; fi
  on_path "$java" && at_least "$java_min" "$(program_version "$java" -version)"
}
has_chromium() { on_path chromium chromium-browser google-chrome; }
has_mosquitto() { on_path mosquitto && on_path mosquitto_pub && on_path mosquitto_sub; }
has_nats() { on_path nats-server; }
has_openssl() { on_path openssl; }
has_systemd() { on_path systemd-analyze && PATH=$PATH:/sbin:/usr/sbin ldconfig -p | grep --quiet "libseccomp\.so\.2"; }
has_man() { on_path lexgrog && on_path man; }

described() {
  case $1 in
    python) echo "Python 3.11 or newer, with venv" ;;
    cc) echo "a C compiler" ;;
    cxx) echo "a C++ compiler" ;;
    cargo) echo "cargo and rustc $rust_min or newer" ;;
    rust-lint) echo "rustfmt and clippy" ;;
    java) echo "Java $java_min or newer" ;;
    chromium) echo "Chromium" ;;
    mosquitto) echo "mosquitto and its clients" ;;
    nats) echo "nats-server" ;;
    openssl) echo "the openssl program" ;;
    systemd) echo "systemd-analyze and libseccomp" ;;
    man) echo "man and lexgrog" ;;
  esac
}

missing_of() {
  local need
  for need in "$@"; do
    if ! "has_$need"; then echo "$need"; fi
  done
}

# --- where the rest comes from

candidate() { LC_ALL=C apt-cache policy "$1" 2>/dev/null | sed -n 's/^  Candidate: \([0-9].*\)/\1/p'; }

# The Rust that apt offers: Debian has the newest as cargo-web, other systems have rustup.
rust_flavour() {
  local package
  for package in cargo cargo-web; do
    if at_least "$rust_min" "$(candidate "$package")" && [[ -n $(candidate "$package") ]]; then
      echo "$package"
      return
    fi
  done
  if [[ -n $(candidate rustup) ]]; then echo rustup; fi
}

rust_packages() { # NEED FLAVOUR
  case $1:$2 in
    cargo:cargo) echo cargo rustc ca-certificates ;;
    cargo:cargo-web) echo cargo-web rustc-web ca-certificates ;;
    cargo:rustup) echo rustup ca-certificates ;;
    rust-lint:cargo) echo rustfmt rust-clippy ;;
    rust-lint:cargo-web) echo rustfmt-web rust-web-clippy ;;
  esac
}

apt_packages() {
  case $1 in
    python) echo python3 python3-venv ;;
    cc | cxx) echo build-essential ;;
    cargo | rust-lint) if ! on_path rustup; then rust_packages "$1" "$(rust_flavour)"; fi ;;
    java) echo default-jre-headless ;;
    chromium) echo chromium ;;
    mosquitto) echo mosquitto mosquitto-clients ;;
    nats) echo nats-server ;;
    openssl) echo openssl ;;
    systemd) echo systemd libseccomp2 ;;
    man) echo man-db ;;
  esac
}

# What apt does not bring: the commands of rustup.
further_command() {
  local flavour=rustup
  if ! on_path rustup; then flavour=$(rust_flavour); fi
  case $1:$flavour in
    cargo:rustup) echo "rustup update stable && rustup default stable" ;;
    rust-lint:rustup) echo "rustup component add rustfmt clippy" ;;
    cargo:) echo "$rustup_command" ;;
  esac
}

each() {
  local question=$1 need
  shift
  for need in "$@"; do "$question" "$need"; done
}

# --- getting it

# Installing a server package starts the server: a policy file forbids that for the moment.
policy=/usr/sbin/policy-rc.d
forbid_services() {
  if [[ -e $policy ]]; then return; fi
  trap 'rm -f "$policy"' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
  printf '#!/bin/sh\nexit 101\n' >"$policy"
  chmod +x "$policy"
}

apt() {
  if ! DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=600 "$@" >.build/apt.log 2>&1; then
    tail -n 20 .build/apt.log >&2
    echo "apt-get $* failed; the whole log is in .build/apt.log." >&2
    return 1
  fi
}

install_with_apt() {
  local packages command service
  mkdir -p .build
  echo "==> apt-get update"
  apt update
  packages=$(each apt_packages "$@" | xargs)
  command=$(each further_command "$@" | paste -sd '&' | sed 's/&/ \&\& /g')
  if [[ -n $packages ]]; then
    echo "==> apt-get install $packages"
    forbid_services
    # shellcheck disable=SC2086 # the packages are words
    apt install -y --no-install-recommends $packages
    for service in mosquitto nats-server; do
      if [[ " $packages " == *" $service "* ]] && on_path systemctl; then
        systemctl disable --quiet "$service" >/dev/null 2>&1 || true
      fi
    done
  fi
  if [[ -n $command && $command != *"$rustup_command"* ]]; then
    echo "==> $command"
    bash -ec "$command"
  fi
}

tell() {
  local need packages commands
  {
    echo
    echo "This machine lacks what Slipring needs:"
    for need in "$@"; do echo "  - $(described "$need")"; done
    if on_path apt-get; then
      packages=$(each apt_packages "$@" | xargs)
      commands=$(each further_command "$@")
      echo "Run this, then try again:"
      echo
      if [[ -n $packages ]]; then
        echo "    sudo apt-get update && sudo apt-get install -y --no-install-recommends $packages"
      fi
      if [[ -n $commands ]]; then sed 's/^/    /' <<<"$commands"; fi
      echo
    else
      echo "Install it with this system's package manager, then try again."
    fi
  } >&2
}

mapfile -t missing < <(missing_of "$@")
if ((${#missing[@]} == 0)); then exit 0; fi
if ((EUID == 0)) && on_path apt-get; then
  install_with_apt "${missing[@]}"
  hash -r
  mapfile -t missing < <(missing_of "$@")
fi
if ((${#missing[@]} > 0)); then
  tell "${missing[@]}"
  exit 1
fi

#!/usr/bin/env bash
# deb.sh WHEEL FOLDER: makes a Debian package from a wheel and the locked packages that it needs, without the network.
# The package has an environment of its own in /usr/lib/slipring, for the Python of .venv: see docs/decisions/0097.
set -euo pipefail
cd "$(dirname "$0")/.."
wheel=$1 folder=$2
bin=.venv/bin
root=$folder/root
home=/usr/lib/slipring

version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
python=$($bin/python -c 'import sys; print("python%d.%d" % sys.version_info[:2])')
glibc=$(sed -n 's/.*manylinux_\([0-9]*\)_\([0-9]*\)_.*/\1.\2/p' <<<"$wheel")
site=$root$home/lib/$python/site-packages

# --- the program

mkdir -p "$site" "$root$home/bin" "$root/usr/bin"
$bin/python -m scripts.needed_lock >"$folder/needed.lock"
install=("$bin/uv" pip install --quiet --offline --no-deps --link-mode copy --python "$bin/python" --target "$site")
"${install[@]}" --require-hashes --requirement "$folder/needed.lock"
"${install[@]}" "$wheel"
# What only compilers and tests of others read.
rm -rf "$site"/{bin,.lock} "$site"/pyarrow/{tests,include,src}
printf 'home = /usr/bin\ninclude-system-site-packages = false\n' >"$root$home/pyvenv.cfg"
ln -s "/usr/bin/$python" "$root$home/bin/python"
cat >"$root$home/bin/slipring" <<END
#!$home/bin/python
# Starts Slipring in the environment of the package.
import sys

from slipring.cli import main

sys.exit(main())
END
chmod 755 "$root$home/bin/slipring"
ln -s "$home/bin/slipring" "$root/usr/bin/slipring"
$bin/python -m compileall -q --invalidation-mode unchecked-hash -s "$root" "$site"

# --- the service, its user and its config file

mkdir -p "$root"/{usr/lib/systemd/system,usr/lib/sysusers.d,etc/slipring}
service=("$bin/slipring" service install --root "$folder/image" --program /usr/bin/slipring)
"${service[@]}" >/dev/null
sed '1d' "$folder/image/etc/systemd/system/slipring.service" >"$root/usr/lib/systemd/system/slipring.service"
sed '1d' "$folder/image/etc/sysusers.d/slipring.conf" >"$root/usr/lib/sysusers.d/slipring.conf"
cp "$folder/image/etc/slipring/broker.toml" "$root/etc/slipring/broker.toml"

# --- what people read

man=$root/usr/share/man/man1 doc=$root/usr/share/doc/slipring
mkdir -p "$doc"
$bin/python -m scripts.man_pages "$man"
gzip -9 --no-name "$man"/*.1
gzip -9 --no-name --stdout CHANGELOG.md >"$doc/changelog.gz"
cp LICENSE "$doc/copyright"

# --- the package

mkdir -p "$root/DEBIAN"
cp scripts/deb/* "$root/DEBIAN"
chmod 755 "$root"/DEBIAN/*
echo /etc/slipring/broker.toml >"$root/DEBIAN/conffiles"
cat >"$root/DEBIAN/control" <<END
Package: slipring
Version: $version
Architecture: $(dpkg --print-architecture)
Maintainer: The makers of Slipring <slipring@localhost>
Installed-Size: $(du --summarize --block-size=1K "$root" | cut -f 1)
Depends: $python, libc6 (>= $glibc), libstdc++6, init-system-helpers, systemd | systemd-standalone-sysusers
Suggests: mosquitto-clients
Section: net
Priority: optional
Description: broker for telemetry, with a console and a journal
 Slipring carries telemetry from machines that move to people who stand still:
 an MQTT broker with a table of typed parameters, a page for the browser, and a
 journal of all that was accepted. It runs as the service slipring, in a
 sandbox, and listens on this machine only until its config file says more.
 .
 The pipeline into a lake needs Spark and is installed with pip.
END
chmod 644 "$root"/DEBIAN/{control,conffiles}
find "$root" -type d -exec chmod 755 {} +
chmod -R u+w,go+rX,go-w "$root"
# xz would make it a sixth smaller, and take twenty times as long.
dpkg-deb --build --root-owner-group -Zzstd -z3 "$root" "$folder" >/dev/null
rm -rf "$root" "$folder/image" "$folder/needed.lock"

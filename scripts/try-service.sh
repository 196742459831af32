#!/usr/bin/env bash
# try-service.sh DEB: the Debian package under a systemd of its own: installed, started, killed, upgraded, removed, purged.
# Never touches this machine's services. Needs root, debootstrap, systemd-nspawn and the internet, and two minutes.
set -euo pipefail
deb=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
root=$folder/debian

debootstrap --variant=minbase --include=systemd-sysv,dbus,python3,init-system-helpers bookworm "$root" >"$folder/log" 2>&1 ||
  { tail -n 5 "$folder/log" >&2; exit 1; }
cp "$deb" "$root/root/slipring.deb"

cat >"$root/root/try" <<'TRY'
#!/bin/bash
# What a person does, and what has to be so.
set -x
is() { [ "$(systemctl "is-$1" slipring)" = "$2" ] || { echo "slipring is not $2"; exit 1; }; }
process() { systemctl show --property MainPID --value slipring; }
# Unpacked while no systemd ran, as into an image: it is started by the boot.
is enabled enabled && is active active || exit 1
set -e
slipring pub --qos 1 --retain gripen/39-7/state ready
systemctl reload slipring
kill -9 "$(process)"
until slipring ping --count 1; do sleep 0.2; done
slipring sub --count 1 'gripen/#' | grep ready
grep -E 'CapEff:.*0000000000000000' "/proc/$(process)/status"
echo '# a change' >>/etc/slipring/broker.toml
before=$(process)
apt-get install --yes --reinstall /root/slipring.deb
[ "$(process)" != "$before" ]
grep '# a change' /etc/slipring/broker.toml
slipring sub --count 1 'gripen/#' | grep ready
slipring doctor --config /etc/slipring/broker.toml
apt-get remove --yes slipring
[ -d /var/lib/slipring/journal ]
apt-get install --yes /root/slipring.deb
is active active
slipring sub --count 1 'gripen/#' | grep ready
apt-get purge --yes slipring
[ -d /var/lib/slipring/journal ]
[ ! -e /etc/slipring ]
[ ! -e /etc/systemd/system/multi-user.target.wants/slipring.service ]
touch /root/done
TRY
cat >"$root/etc/systemd/system/try.service" <<'UNIT'
[Unit]
Description=What is tried
After=multi-user.target slipring.service

[Service]
Environment=DEBIAN_FRONTEND=noninteractive
ExecStart=/bin/bash /root/try
ExecStopPost=/bin/systemctl --no-block poweroff
StandardOutput=file:/root/told
StandardError=file:/root/told
UNIT
mkdir -p "$root/etc/systemd/system/multi-user.target.wants"
ln -s ../try.service "$root/etc/systemd/system/multi-user.target.wants/try.service"
chroot "$root" apt-get install --yes --no-install-recommends /root/slipring.deb >"$folder/log" 2>&1 ||
  { tail -n 5 "$folder/log" >&2; exit 1; }

systemd-nspawn --boot --directory "$root" --register=no --keep-unit --private-network --console=pipe >"$folder/log" 2>&1 || true
if [ ! -e "$root/root/done" ]; then
  tail -n 20 "$root/root/told" "$folder/log" >&2
  exit 1
fi
echo "installed, started, killed, upgraded, removed, installed again and purged: as it has to be"

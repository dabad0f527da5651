#!/bin/bash
# Proof that a fresh machine needs nothing else: a minimal Debian tree with g++, make, git and python3 (venv and
# header packages), in which an ordinary user runs `make demo` and `make test` on a clone of the last commit.
# A developer's machine hides a missing set-up step; this one has nothing to hide it with.
#
# Usage, as root: tests/fresh/run.sh [targets, default: demo test]
# FRESH_SUITE (bookworm), FRESH_MIRROR (the suite's usual one), FRESH_DIR (a new directory), FRESH_KEEP=1.
# The tree shares the host's network settings, certificates and pip options, so that it reaches what the host does.
set -euo pipefail
cd "$(dirname "$0")/../.."
targets=${*:-demo test}
suite=${FRESH_SUITE:-bookworm}
mirror=${FRESH_MIRROR:-}
root=${FRESH_DIR:-$(mktemp -d /var/tmp/fresh-debian.XXXXXX)}

[ "$(id -u)" = 0 ] || { echo "tests/fresh/run.sh: needs root, for chroot" >&2; exit 1; }
command -v debootstrap >/dev/null || { echo "tests/fresh/run.sh: install debootstrap" >&2; exit 1; }

step() { echo "== [$(date -u +%H:%M:%S)] $*"; }

clean_up() {
  umount "$root/proc" "$root/dev" 2>/dev/null || true
  [ -n "${FRESH_KEEP:-}" ] || rm -rf --one-file-system "$root"
}
trap clean_up EXIT

if [ ! -e "$root/usr/bin/make" ]; then
  step "Making a minimal $suite tree in $root"
  # shellcheck disable=SC2086 # no mirror is no argument
  debootstrap --variant=minbase --include=ca-certificates,g++,make,git,python3,python3-venv,python3-dev \
    "$suite" "$root" $mirror >"$root.log" 2>&1 || { tail -20 "$root.log" >&2; exit 1; }
  rm -f "$root.log"
fi
chmod 755 "$root"  # mktemp made it for root alone; it is the newcomer's / too
mount --bind /dev "$root/dev"
mount -t proc proc "$root/proc"

cp -L /etc/resolv.conf "$root/etc/resolv.conf"
cp -L /etc/hosts "$root/etc/hosts"
if [ -e /etc/ssl/certs/ca-certificates.crt ]; then
  cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/ca-certificates.crt"
fi
# pip's options of this host that do not point to its disk.
python3 -m pip config list 2>/dev/null | sed -n "s/^global\.\([a-z-]*\)='\(.*\)'$/\1 = \2/p" |
  grep -E '^(index-url|extra-index-url|trusted-host|proxy|timeout|cert) ' | grep -v -E 'file:|= /opt' |
  { echo "[global]"; cat; } >"$root/etc/pip.conf"

step "Cloning the last commit into it"
chroot "$root" useradd --create-home newcomer 2>/dev/null || true
rm -rf "$root/home/newcomer/pybn_api"
git clone --quiet --no-hardlinks . "$root/home/newcomer/pybn_api"
chroot "$root" chown -R newcomer:newcomer /home/newcomer

for target in $targets; do
  step "make $target"
  chroot "$root" /usr/bin/env -i HOME=/home/newcomer USER=newcomer PATH=/usr/bin:/bin LANG=C.UTF-8 \
    su newcomer -c "cd ~/pybn_api && make $target"
  step "make $target again: nothing is left to build"
  start=$(date +%s)
  chroot "$root" /usr/bin/env -i HOME=/home/newcomer USER=newcomer PATH=/usr/bin:/bin LANG=C.UTF-8 \
    su newcomer -c "cd ~/pybn_api && make --no-print-directory $([ "$target" = test ] && echo build || echo "$target")" \
    >"$root/second.log"
  if grep -E '\[[0-9]+/[0-9]+\] Building' "$root/second.log"; then
    echo "the second run built something again" >&2
    exit 1
  fi
  step "the second run took $(($(date +%s) - start)) s"
done
step "A fresh $suite needs nothing else"

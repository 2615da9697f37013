#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Install the Debian packages that building, testing and the demo need, and
# only those that are missing. Does nothing, and needs no root, on a machine
# that has them all.
set -eu

packages="gcc make git clang libclang-rt-dev bpftool binutils pkg-config ca-certificates
	libbpf-dev libelf-dev libdw-dev zlib1g-dev liblzma-dev libiberty-dev
	libedit-dev libcap-dev libcap2-bin libcmocka-dev linux-libc-dev
	linux-perf procps util-linux binutils-dev libzstd-dev dwz mandoc"

# What make bench measures against.
[ "${1:-}" != bench ] || packages="$packages libbpf-tools bpftrace"

missing=
for p in $packages; do
	status=$(dpkg-query -W -f '${Status}' "$p" 2>/dev/null || true)
	[ "$status" = "install ok installed" ] || missing="$missing $p"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" != 0 ]; then
	echo "install-deps: missing packages:$missing: run 'make deps' as root" >&2
	exit 1
fi
echo "installing:$missing"
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
if ! { apt-get update && apt-get install -y --no-install-recommends $missing; } >"$log" 2>&1; then
	tail -n 20 "$log" >&2
	echo "install-deps: apt-get failed: check the package sources of this machine" >&2
	exit 1
fi
rm -f "$log"

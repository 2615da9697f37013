#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Install the Debian packages that are missing: install-deps.sh [build|test|bench]
#
# "build" is for building and the demo, "test" (the default) also for the tests, "bench"
# also for the tools that make bench compares with. If nothing is missing, it does nothing
# and needs no root.
set -eu

build="gcc make clang bpftool pkg-config libbpf-dev libelf-dev libdw-dev zlib1g-dev
	libdeflate-dev liblzma-dev libiberty-dev libedit-dev libcap-dev linux-libc-dev binutils-dev
	libzstd-dev minify procps util-linux"
test="git libclang-rt-dev binutils ca-certificates libcap2-bin libcmocka-dev
	linux-perf dwz mandoc golang-go protobuf-compiler chromium firefox-esr nodejs npm
	pngquant musl-tools libjemalloc2 libtcmalloc-minimal4"
bench="libbpf-tools bpftrace redis-server redis-tools nginx postgresql-15
	nodejs openjdk-17-jdk-headless openssl perl python3"

case ${1:-test} in
build) packages=$build ;;
test) packages="$build $test" ;;
bench) packages="$build $test $bench" ;;
*) echo "usage: install-deps.sh [build|test|bench]" >&2; exit 2 ;;
esac

if ! command -v dpkg-query >/dev/null; then
	echo "install-deps: not a Debian system: install the equivalents of these packages:" \
		$packages >&2
	exit 0
fi

# Node.js from elsewhere has npm, and conflicts with Debian's package of it.
has_npm() { [ "$1" = npm ] && command -v npm >/dev/null; }

missing=
for p in $packages; do
	has_npm "$p" && continue
	status=$(dpkg-query -W -f '${Status}' "$p" 2>/dev/null || true)
	[ "$status" = "install ok installed" ] || missing="$missing $p"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" != 0 ]; then
	echo "install-deps: missing packages:$missing: as root, apt-get install$missing" >&2
	exit 1
fi
echo "installing:$missing"
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# apt-get update fails if one package source cannot be reached. The others may have all packages.
apt-get update >"$log" 2>&1 || true
if ! apt-get install -y --no-install-recommends $missing >>"$log" 2>&1; then
	why=$(sed -n 's/^[EW]: //p' "$log" | head -n 1)
	echo "install-deps: apt-get cannot install$missing (${why:-no reason given}):" \
		"check the network and /etc/apt, then try again" >&2
	exit 1
fi

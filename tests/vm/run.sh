#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The capture test on Debian's stock kernel, in qemu without KVM.
#	run.sh OUTPUT [VERSION]
# VERSION picks the kernel package, 6.1 by default. The kernel is unpacked below
# .output/vm and never installed; the initramfs holds busybox, the test, and the
# libraries that ldd names. Times are an emulator's: only what must hold
# anywhere is expected to.
set -u

out=${1:?usage: run.sh OUTPUT [VERSION]}
version=${2:-6.1}
vm=.output/vm
init=$vm/init.$version

skip() { echo "skip vm $version: $*"; exit 0; }

need()
{
	command -v "$1" >/dev/null && return
	[ "$(id -u)" = 0 ] || skip "no $1, and only root can install it"
	apt-get install -y -q --no-install-recommends "$2" >"$vm/apt.log" 2>&1 ||
		skip "cannot install $2"
}

# The newest matching package: its file name without the directory.
kernel_package()
{
	apt-cache search --names-only "^linux-image-$version\\.[0-9.+bpo-]*-cloud-amd64-unsigned\$" |
		cut -d' ' -f1 | sort -V | tail -n 1
}

get_kernel()
{
	kernel=$(ls "$vm/$version"/boot/vmlinuz-* 2>/dev/null | tail -n 1)
	[ -n "$kernel" ] && return
	package=$(kernel_package)
	[ -n "$package" ] || skip "no such kernel package in apt"
	(cd "$vm" && apt-get download -q "$package") >"$vm/apt.log" 2>&1 ||
		skip "cannot download $package"
	dpkg -x "$vm/$package"_*.deb "$vm/$version" || skip "cannot unpack $package"
	kernel=$(ls "$vm/$version"/boot/vmlinuz-*)
}

# copy_libs PROGRAM: what it is linked with, at the same places.
copy_libs()
{
	ldd "$1" | grep -o '/[^ ]*' | while read -r lib; do
		mkdir -p "$init$(dirname "$lib")"
		cp -L "$lib" "$init$lib"
	done
}

make_init()
{
	rm -rf "$init"
	mkdir -p "$init/bin" "$init/proc" "$init/sys" "$init/dev" "$init/tmp"
	cp "$(command -v busybox)" "$init/bin/busybox"
	cp "$out/tests/live/capture_selftest" "$init/bin/"
	copy_libs "$out/tests/live/capture_selftest"
	cat >"$init/init" <<'EOF'
#!/bin/busybox sh
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t sysfs sys /sys
/bin/busybox mount -t devtmpfs dev /dev
echo
/bin/capture_selftest emulated
echo "status $?"
/bin/busybox poweroff -f
EOF
	chmod +x "$init/init"
	(cd "$init" && find . | busybox cpio -o -H newc 2>/dev/null) | gzip -1 >"$init.cpio.gz"
}

mkdir -p "$vm"
[ -x "$out/tests/live/capture_selftest" ] || skip "capture_selftest is not built"
need qemu-system-x86_64 qemu-system-x86
need busybox busybox-static
get_kernel
make_init
timeout 110 qemu-system-x86_64 -accel tcg -cpu max -m 768 -smp 2 -nographic -no-reboot \
	-kernel "$kernel" -initrd "$init.cpio.gz" -append "console=ttyS0 quiet panic=-1" \
	</dev/null 2>&1 | tr -d '\r' >"$vm/$version.log"
grep -E '^(ok|not ok|skip) ' "$vm/$version.log" | sed "s/^\(ok\|not ok\|skip\) /\1 vm $version: /"
grep -q '^status 0$' "$vm/$version.log" && exit 0
grep -q '^not ok ' "$vm/$version.log" || {
	echo "not ok vm $version: no result"
	tail -n 20 "$vm/$version.log" | sed 's/^/#   /'
}
exit 1

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The live selftests on Debian's stock kernel, in qemu without KVM.
#	run.sh OUTPUT [VERSION]
# VERSION chooses the kernel package, by default 6.1. The kernel is unpacked below
# .output/vm and never installed. The initramfs has busybox, every tests/live/*_selftest,
# the recorder with tests/vm/guest/*.sh, and their libraries, as ldd lists them.
# ONLY="hotplug.sh …" runs only these scripts, SMP=4 uses more CPUs. An ext4 disk is mounted
# at /var/tmp, attached by NVMe; these kernels have both drivers built in. Emulated times
# are not real, so tests expect only what holds on any machine.
#
# Each test inside has a time limit. A test that exceeds it, and tests that a stopped
# machine did not reach, are skipped with that reason: slowness on a busy, emulated machine
# proves nothing. A test that says "not ok" is run again, and fails if it says so again; its
# first output follows "# again:".
set -u

here=$(cd "$(dirname "$0")" && pwd)
out=${1:?usage: run.sh OUTPUT [VERSION]}
version=${2:-6.1}
vm=.output/vm
id=$version${SMP:+.$SMP} # machines of different size may run at the same time
init=$vm/init.$id
disk=$vm/disk.$id
log=$vm/$id.log
test_limit=${TEST_LIMIT:-300} # in seconds, which pass at the same rate inside as outside
vm_limit=${VM_LIMIT:-1500}

skip() { echo "skip vm $version: $*"; exit 0; }

# Package lists may be missing or out of date: then update them and try again.
apt()
{
	timeout 120 apt-get "$@" >"$vm/apt.log" 2>&1 && return
	[ "$(id -u)" = 0 ] && timeout 60 apt-get update >"$vm/apt.log" 2>&1 &&
		timeout 120 apt-get "$@" >"$vm/apt.log" 2>&1
}

need()
{
	command -v "$1" >/dev/null && return
	[ "$(id -u)" = 0 ] || skip "no $1, and only root can install it"
	DEBIAN_FRONTEND=noninteractive apt install -y -q --no-install-recommends "$2" ||
		skip "cannot install $2: $(tail -n 1 "$vm/apt.log")"
}

# The newest matching package.
kernel_package()
{
	apt-cache search --names-only "^linux-image-$version\\.[0-9.+bpodebu-]*-cloud-amd64-unsigned\$" |
		cut -d' ' -f1 | sort -V | tail -n 1
}

get_kernel()
{
	kernel=$(ls "$vm/$version"/boot/vmlinuz-* 2>/dev/null | tail -n 1)
	[ -n "$kernel" ] && return
	command -v dpkg >/dev/null || skip "no dpkg: this is not Debian"
	package=$(kernel_package)
	[ -n "$package" ] || { [ "$(id -u)" != 0 ] || timeout 60 apt-get update >"$vm/apt.log" 2>&1
		package=$(kernel_package); }
	[ -n "$package" ] || skip "apt has no such kernel"
	(cd "$vm" && vm=. apt download -q "$package") ||
		skip "cannot download $package: $(tail -n 1 "$vm/apt.log")"
	rm -rf "$vm/unpack.$$"
	dpkg -x "$vm/$package"_*.deb "$vm/unpack.$$" || skip "cannot unpack $package"
	rm -rf "${vm:?}/$version" && mv "$vm/unpack.$$" "$vm/$version"
	rm -f "$vm/$package"_*.deb
	kernel=$(ls "$vm/$version"/boot/vmlinuz-*)
}

# put PROGRAM…: copy programs into /bin, and their libraries to the same paths.
put()
{
	for program; do
		cp "$program" "$init/bin/"
		ldd "$program" 2>/dev/null | grep -o '/[^ ]*' | while read -r lib; do
			[ ! -e "$init$lib" ] || continue
			mkdir -p "$init$(dirname "$lib")"
			cp -L "$lib" "$init$lib"
		done
	done
}

make_init()
{
	rm -rf "$init"
	mkdir -p "$init/bin" "$init/proc" "$init/sys" "$init/dev" "$init/tmp" "$init/var/tmp"
	# Debian's busybox is built without fractional sleep, so use the host's.
	put "$(command -v busybox)" "$(command -v sleep)" $selftests "$out/bin/er_kernel" "$out/bin/collect" "$out/bin/er_print" \
		"$out/tests/synprog/spin" "$out/tests/synprog/sysload" "$out/tests/synprog/faults" "$out/tests/synprog/probed" \
		"$out/tests/synprog/fileio" "$out/tests/synprog/heap"
	cp "$here"/guest.sh "$here"/guest/*.sh "$init/bin/"
	cat >"$init/init" <<END
#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t tracefs tracefs /sys/kernel/tracing
mount -t cgroup2 cgroup /sys/fs/cgroup
mount -t tmpfs tmp /tmp
mount -t ext4 /dev/nvme0n1 /var/tmp
ip link set lo up
cd /tmp
for t in $tests; do
	echo
	echo "== begin \$t"
	timeout -k 5 $test_limit /bin/\$t emulated 2>&1
	status=\$?
	echo "== end \$t \$status"
	[ \$status = 0 ] && continue
	echo "== begin \$t"
	timeout -k 5 $test_limit /bin/\$t emulated 2>&1
	echo "== end \$t \$?"
done
poweroff -f
END
	chmod +x "$init/init" "$init"/bin/*.sh
	(cd "$init" && find . | busybox cpio -o -H newc 2>/dev/null) | gzip -1 >"$init.cpio.gz"
}

make_disk()
{
	rm -f "$disk"
	truncate -s 256M "$disk" && mkfs.ext4 -q -m 0 "$disk" >"$vm/mkfs.log" 2>&1 ||
		skip "cannot make a disk: $(tail -n 1 "$vm/mkfs.log")"
}

# Print the cases under this machine's name, and one for a test that did not end. The status
# is not 0 if a case failed.
report()
{
	awk -v vm="vm $version" -v died="$1" -v limit="$test_limit" -v all="$tests" '
		function detail(  i) { for (i = n > 15 ? n - 14 : 1; i <= n; i++) say("#   " line[i]) }
		function say(text) { text_of[name] = text_of[name] text "\n" }
		function label(rest) { return vm ": " name ": " rest }
		/^== begin / {
			name = $3; cases = bad = n = 0
			if (began[name]++) { gsub(/(^|\n)/, "&# again: ", text_of[name])
				sub(/# again: $/, "", text_of[name]) }
			failed[name] = 0; next }
		/^== end / { ended[name] = 1
			if (($4 == 143 || $4 == 124 || $4 == 137) && !bad)
				say("skip " label("not done in " limit " s of emulation, " cases + 0 " cases were"))
			else if (!cases || $4 && !bad) {
				say("not ok " label("status " $4 ", " cases + 0 " cases"))
				failed[name] = 1; detail() }
			next }
		/^not ok / { bad++; failed[name] = 1 }
		/^(ok|not ok|skip) / { cases++
			match($0, /^(ok|not ok|skip) /)
			say(substr($0, 1, RLENGTH) label(substr($0, RLENGTH + 1))); next }
		/^#/ { say($0); next }
		{ line[++n] = $0 }
		END {
			count = split(all, t, " ")
			for (i = 1; i <= count; i++) { name = t[i]
				if (!(name in ended)) {
					say("skip " label(died (name in began ? "" : ", it had not begun")))
					if (name in began) detail() }
				printf "%s", text_of[name]
				if (failed[name]) wrong = 1 }
			exit wrong }' "$log"
}

mkdir -p "$vm" 2>/dev/null && rm -f "$log" "$log".* 2>/dev/null && : 2>/dev/null >"$log" ||
	skip "cannot write to $vm"
selftests=$(ls "$out"/tests/live/*_selftest 2>/dev/null)
[ -n "$selftests" ] || skip "no selftest is built"
# Tests that may leave the machine changed run last. suspend.sh runs only by ONLY: on a busy
# machine some clock jumps over a suspend to memory are still missed.
tests=${ONLY:-smoke.sh $(for t in $selftests; do basename "$t"; done | tr '\n' ' ')hotplug.sh limits.sh full.sh}
exec 9>"$vm/lock" && flock 9 # packages are installed and unpacked by one at a time
need qemu-system-x86_64 qemu-system-x86
need busybox busybox-static
need mkfs.ext4 e2fsprogs
get_kernel
exec 9>&-
make_init
make_disk
# Without cx16: qemu 7.2 corrupts the flags of cmpxchg16b when an interrupt comes, and then
# the kernel's allocator fails (double fault in __kmalloc).
#
# The commands sent to qemu's monitor wake the machine after either kind of suspend, and
# otherwise do nothing. With --foreground qemu stays in the process group of this script, so a
# signal to the group ends it.
{ while sleep 2; do printf 'system_wakeup\nsendkey ctrl\n'; done; } 2>/dev/null |
	timeout --foreground -k 10 "$vm_limit" qemu-system-x86_64 -accel tcg,thread=single -cpu max,-cx16 -m 1024 -smp "${SMP:-2}" \
	-drive "if=none,id=disk,format=raw,cache=unsafe,file=$disk" -device nvme,drive=disk,serial=disk \
	-display none -serial "file:$log.raw" -monitor stdio -no-reboot -kernel "$kernel" -initrd "$init.cpio.gz" \
	-append "console=ttyS0 quiet panic=-1" >/dev/null 2>"$log.err"
status=$?
cat "$log.raw" "$log.err" | tr -d '\r' >"$log"
case $status in
0) report "the machine stopped" ;;
124 | 137) report "the machine was stopped after $vm_limit s" ;;
*) report "qemu ended with status $status" ;;
esac

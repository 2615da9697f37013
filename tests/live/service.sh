#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The unit for systemd: it is installed, systemd accepts it, and what it allows is enough to record.
. "$(dirname "$0")/../lib/live.sh"

sh "$top/tools/install.sh" "$O" "$tmp/image" /opt/er >out 2>&1 || { not_ok "installs" "$(cat out)"; exit 1; }
unit=$tmp/image/opt/er/lib/systemd/system/er_kernel.service
check_that "the unit is installed, and starts the installed program" \
	"$(grep -c '^ExecStart=/opt/er/bin/er_kernel ' "$unit") == 1" "$(cat "$unit")"
"$er_kernel" -n $(sed -n 's/^ExecStart=[^ ]* //p' "$unit" | sed "s|/var/lib/er_kernel|$tmp|") >preview 2>&1
check_that "the unit's options are er_kernel's" "$? == 0" "$(cat preview)"

command=$(sed -n 's/^ExecStart=[^ ]*bin\///p' "$unit")
check "howto-service.md has the unit's command line" grep -qxF "$command" "$top/docs/howto-service.md"
sed -n '/^\[Service\]$/,/^```$/p' "$top/docs/howto-service.md" | grep -v '^```' >flight.conf
# shellcheck disable=SC2046
"$er_kernel" -n $(sed -n 's/^ExecStart=[^ ][^ ]* //p' flight.conf | sed "s|/var/lib/er_kernel|$tmp|") >preview 2>&1
check_that "and its flight recorder's is er_kernel's" "$? == 0 && $(grep -c '^dump pressure: ' preview) == 1" "$(cat preview)"
if command -v systemd-analyze >/dev/null; then
	mkdir verified
	sed "s|/opt/er/bin|$O/bin|" "$unit" >verified/er_kernel.service
	case $O in
	*\ *) skip "systemd-analyze verify" "a path with blanks" ;;
	*)	mkdir verified/er_kernel.service.d
		sed "s|/usr/local/bin|$O/bin|" flight.conf >verified/er_kernel.service.d/flight.conf
		systemd-analyze verify --man=no verified/er_kernel.service >out 2>&1
		check_that "systemd-analyze verify, with the flight recorder of howto-service.md" \
			"$? == 0 && $(grep -c er_kernel.service out) == 0" "$(cat out)"
		rm -r verified/er_kernel.service.d
		systemd-analyze verify --man=no verified/er_kernel.service >out 2>&1
		check_that "systemd-analyze verify" "$? == 0 && $(grep -c er_kernel.service out) == 0" "$(cat out)" ;;
	esac
	if systemd-analyze security --help 2>&1 | grep -q -e --offline; then
		systemd-analyze security --offline=true --threshold=40 --no-pager verified/er_kernel.service \
			>out 2>&1
		check_that "systemd-analyze security: exposure below 4.0" "$? == 0" "$(tail -n 3 out)"
	else
		skip "systemd-analyze security" "it cannot look at files"
	fi
else
	skip "systemd-analyze" "not installed"
fi

# Its capabilities are enough: nothing is missing that root has.
caps=$(sed -n 's/^CapabilityBoundingSet=//p' "$unit" | tr ' ' '\n' | sed 's/^CAP_/+/' | tr 'A-Z\n' 'a-z,')
confined() { setpriv --no-new-privs --inh-caps=-all --bounding-set="-all,${caps%,}" "$@"; }
if command -v setpriv >/dev/null; then
	confined "$er_kernel" --check >confined.check
	"$er_kernel" --check >root.check
	check_that "--check finds all that root has" \
		"$(grep -c '^yes' confined.check) == $(grep -c '^yes' root.check)" "$(diff root.check confined.check)"
	confined "$er_kernel" -o confined.er -p high -q 0.3 -- "$syn/spin" alpha:1 >out 2>err
	check_that "the service records without messages" "$? == 0 && $(wc -l <err) == 0" "$(cat err)"
	pids=$(pid_of out)
	check_that "the service's recording has user stacks" "$(seconds_of main i.totalcpu confined.er) > 0.9 * $(truth out alpha)" \
		"$(function_seconds i.totalcpu confined.er | head)"
else
	skip "its capabilities" "setpriv is not installed"
fi

check_that "the unit leaves /proc/kallsyms readable, which the stacks of waits need before 6.16" \
	"$(grep -c '^ProtectKernelTunables=yes' "$unit") == 0"

# The unit's own command line, where only the unit's paths may be written. It is not systemd that
# confines it here; the mounts are those that systemd makes for these options.
values() { sed -n "s/^$1=//p" "$unit" | tr ' ' '\n'; }
cat >confine <<'END'
set -e
umask 077
mkdir -p /run/er_kernel # as recorders make it
mount -t tmpfs -o mode=755 er-test /var/lib
mkdir /var/lib/er_kernel
mount --bind "$state" /var/lib/er_kernel
mount --bind "$runtime" /run/er_kernel
read_only() { mount --bind "$1" "$1"; mount -o remount,ro,bind "$1"; }
for path in $read_only; do
	case $path in -*) path=${path#-}; [ -e "$path" ] || continue ;; esac
	read_only "$path"
done
for path in $hidden /lib/modules /boot; do # ProtectKernelModules=, and none needs /boot
	path=${path#-}
	[ ! -d "$path" ] || mount -t tmpfs -o ro,mode=0 er-test "$path"
	[ ! -f "$path" ] || mount --bind /dev/null "$path"
done
mkdir "$runtime/dev" # PrivateDevices=
for device in null zero full random urandom; do
	: >"$runtime/dev/$device"
	mount --bind /dev/$device "$runtime/dev/$device"
done
mount --rbind "$runtime/dev" /dev
mount -o remount,ro,bind / # ProtectSystem=strict
for path in "$top/written" /sys/written /proc/sys/kernel/pid_max; do
	! (: >"$path") 2>/dev/null || exit 99
done
(ulimit -n "$files") 2>/dev/null && ulimit -n "$files" # not above the hard limit
exec "$@"
END
mkdir state runtime
if unshare --mount --propagation private true 2>/dev/null && command -v setpriv >/dev/null; then
	"$syn/spin" alpha:1000 >/dev/null &
	spin=$!
	state=$tmp/state runtime=$tmp/runtime top=$top read_only=$(values ReadOnlyPaths | tr '\n' ' ') \
		hidden=$(values InaccessiblePaths | tr '\n' ' ') files=$(values LimitNOFILE) \
		unshare --mount --net --uts --propagation private sh confine \
		setpriv --no-new-privs --inh-caps=-all --bounding-set="-all,${caps%,}" \
		"$er_kernel" $(sed -n 's/^ExecStart=[^ ]* //p' "$unit") >out 2>err &
	pid=$!
	until [ -s state/ktest.1.er/profile ] || ! kill -0 $pid 2>/dev/null; do sleep 0.1; done
	sleep 6 # two status files
	check_that "the unit's command line: the status file is written" \
		"$(grep -cx 'er_kernel_running 1' runtime/er_kernel.prom) == 1" "$(cat out err; ls runtime)"
	check_that "the unit's command line: the control socket is there" "$(ls -l runtime | grep -c '^s') == 1" \
		"$(ls -l runtime)"
	kill -INT $pid
	wait $pid
	check_that "the unit's command line: ends well" "$? == 0" "$(cat err)"
	grep -v -e '^Creating experiment' -e '^er_kernel: wrote ' -e '^[a-z ]*: ' err >complaints
	check_that "the unit's command line: no complaint" "$(wc -l <complaints) == 0" "$(cat complaints)"
	kill $spin
	pids=
	check_that "the unit's command line: the last status" \
		"$(grep -cx 'er_kernel_running 0' runtime/er_kernel.prom) == 1" "$(cat runtime/er_kernel.prom)"
	check_that "the unit's command line: user functions have names" \
		"$(seconds_of alpha i.totalcpu state/ktest.1.er) > 0" "$(function_seconds i.totalcpu state/ktest.1.er | head)"
	must_record free.er -t 0.5
	method() { sed -n 's/.* way="\([^"]*\)".*/\1/p' "$1/recorder.xml"; }
	check_that "the unit's command line: stacks of waits by the best method" \
		"\"$(method state/ktest.1.er)\" == \"$(method free.er)\" && \"$(method free.er)\" != \"\"" \
		"$(method state/ktest.1.er), $(method free.er)"
else
	skip "the unit's command line" "mount namespaces are not permitted here"
fi

# In the journal each message has its level.
: >journal
JOURNAL_STREAM=$(stat -c '%d:%i' journal) "$er_kernel" -T 0/99999999 2>journal
check_that "an error has its level in the journal" "$(grep -c '^<3>er_kernel: -T' journal) == 1" "$(cat journal)"
JOURNAL_STREAM=$(stat -c '%d:%i' journal) "$er_kernel" -T 0/99999999 2>err
check_that "an error of the service is only in the journal" "$(grep -c '^er_kernel: -T' err) == 1" "$(cat err)"

# Each system call that a recording makes is allowed.
allowed()
{
	systemd-analyze syscall-filter "$1" | sed 1d | sed 's/^ *//; /^#/d; /^$/d' | while read -r name; do
		case $name in @*) allowed "$name" ;; *) echo "$name" ;; esac
	done
}
if command -v strace >/dev/null && command -v systemd-analyze >/dev/null; then
	for word in $(sed -n 's/^SystemCallFilter=//p' "$unit"); do
		case $word in @*) allowed "$word" ;; *) echo "$word" ;; esac
	done | sort -u >names.allowed
	strace -f -qq -c -o calls "$er_kernel" -o traced.er -t 1 -A copy --status traced.prom >out 2>err
	awk '/^-/ { inside = !inside; next } inside { print $NF }' calls | grep -v '^total$' | sort -u >names.made
	missing=$(comm -13 names.allowed names.made)
	check_that "each system call is allowed" "$(wc -l <names.made) > 30 && $(echo $missing | wc -w) == 0" "$missing"
else
	skip "system calls" "strace or systemd-analyze is not installed"
fi

# SPDX-License-Identifier: GPL-2.0-or-later
#
# For live tests that control recorders in the background. Source it after live.sh.

place=/run/er_kernel # the sockets of root's recorders

# start EXPERIMENT ARGUMENTS…: start a recorder in the background and wait until it listens. Sets
# $pid. Its output is in EXPERIMENT.out and EXPERIMENT.err.
start()
{
	local exp=$1
	shift
	"$er_kernel" -o "$exp" "$@" >"$exp.out" 2>"$exp.err" &
	pid=$!
	until [ -S $place/$pid ] || ! kill -0 $pid 2>/dev/null; do sleep 0.05; done
	[ -S $place/$pid ] || { not_ok "listens ($*)" "$(cat "$exp.err")"; exit 1; }
}

# ctl COMMAND ARGUMENTS…: its output is in ctl.out and ctl.err.
ctl() { local command=$1; shift; "$er_kernel" --ctl "$command" "$@" >ctl.out 2>ctl.err; }

# ask COMMAND ARGUMENTS…: ask the recorder $pid.
ask() { local command=$1; shift; ctl "$command" --pid $pid "$@"; }

# refused STATUS [WANTED]: the last command was refused with one sentence.
refused() { [ "$1" = "${2:-1}" ] && [ "$(wc -l <ctl.err)" = 1 ] && [ ! -s ctl.out ]; }

as_nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }

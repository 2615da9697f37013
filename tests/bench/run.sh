#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# make bench [QUICK=1] [ROUNDS=3] [PARTS="NAME…" [WRITE=1]]: run.sh OUTPUT
#
# Measures every figure that has a target. Programs that are compared run in turn within one run.
# The result is the median of several rounds. Prints a table and, after a full run, writes
# docs/performance.md, whose text it keeps. QUICK: two minutes, one round of short recordings. PARTS: only these parts;
# with WRITE docs/performance.md gets the sections of which all parts were measured. A part is a function bench_NAME in a file part_*.sh, which names it in `section` (and in
# `quick`; in `alone` if only PARTS runs it).
set -u

top=$(cd "$(dirname "$0")/../.." && pwd)
O=$(cd "$1" && pwd) || exit 1
QUICK=${QUICK:-} PARTS=${PARTS:-}
rounds=${QUICK:+1} rounds=${rounds:-${ROUNDS:-3}}
seconds=${QUICK:+8} seconds=${seconds:-20} # length of recordings whose CPU time counts
er_kernel=$O/bin/er_kernel er_print=$O/bin/er_print
syn=$O/tests/synprog bench=$O/tests/bench
measure=$bench/measure
work=$(mktemp -d) || exit 1
cd "$work" || exit 1
jobs=()
stats=$(cat /proc/sys/kernel/bpf_stats_enabled)

cleanup()
{
	stop_jobs
	echo "$stats" >/proc/sys/kernel/bpf_stats_enabled
	cd / && rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 1' INT TERM HUP

# SIGKILL prevents the cleanup: a separate process restores the kernel's setting.
setsid bash -c "while kill -0 $$ 2>/dev/null; do sleep 1; done
	echo $stats >/proc/sys/kernel/bpf_stats_enabled" >/dev/null 2>&1 &
disown

[ "$(id -u)" = 0 ] || { echo "bench: needs root: it records the whole system" >&2; exit 1; }
PATH=$PATH:/usr/sbin:/sbin
for tool in perf gprofng bpftool taskset; do
	command -v $tool >/dev/null || { echo "bench: '$tool' is not installed: run 'make deps'" >&2; exit 1; }
done

parts=() quick=() alone=()
declare -A title_of
# section TITLE PART…: these parts' rows stand under this title on the page.
section()
{
	local title=$1 part

	shift
	parts+=("$@")
	for part; do title_of[$part]=$title; done
}

. "$top/tests/bench/lib.sh"
. "$top/tests/bench/report.sh"
for f in "$top"/tests/bench/part_*.sh; do . "$f"; done

read -r -a chosen <<<"${PARTS:-${QUICK:+${quick[*]}}}"
if [ ${#chosen[@]} = 0 ]; then
	for part in "${parts[@]}"; do
		case " ${alone[*]} " in *" $part "*) ;; *) chosen+=("$part") ;; esac
	done
fi
for part in "${chosen[@]}"; do
	case " ${parts[*]} " in
	*" $part "*) ;;
	*) echo "bench: no part '$part': parts are ${parts[*]}" >&2; exit 2 ;;
	esac
done
printf '%-58s %-30s %-44s %s\n' what "target" measured met
# Half a section would lose the rows of its other parts.
for part in ${WRITE:+"${parts[@]}"}; do
	case " ${chosen[*]} " in *" $part "*) continue ;; esac
	for other in "${chosen[@]}"; do
		[ "${title_of[$part]}" != "${title_of[$other]}" ] ||
			{ echo "bench: WRITE needs all parts of '${title_of[$part]}': add $part" >&2; exit 2; }
	done
done
title=
for part in "${chosen[@]}"; do
	[ "${title_of[$part]}" = "$title" ] ||
		rows+=("" "## ${title_of[$part]}" "" "| what | target | measured | met |" "|---|---|---|---|")
	title=${title_of[$part]}
	"bench_$part"
done
write=${PARTS:+${WRITE:+report_sections}}
[ -n "$PARTS" ] || write=report
[ -z "$QUICK" ] || write=
if [ -n "$write" ]; then
	page=$($write "$top/docs/performance.md") && printf '%s\n' "$page" >"$top/docs/performance.md"
	echo "written to docs/performance.md" >&2
fi

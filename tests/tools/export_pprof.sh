#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# er_export --to pprof: pprof itself reads the profiles, and its sums are er_print's.
. "$(dirname "$0")/../lib/tools.sh"
. "$top/tests/lib/export.sh"

if command -v pprof >/dev/null; then pprof() { command pprof "$@"; }
elif command -v go >/dev/null && go tool pprof -h 2>&1 | grep -q format; then pprof() { go tool pprof "$@"; }
else skip_all "pprof is not installed: apt-get install golang-go"; fi
export PPROF_TMPDIR=$tmp HOME=$tmp

# profile EXPERIMENT OPTIONS…: export, and print what pprof reads in `raw`.
profile()
{
	er_export --to pprof -o p.pb.gz "$@" 2>err && pprof -raw p.pb.gz >raw 2>>err
}

# column N: the sum of a value over all samples in `raw`.
column()
{
	awk -v n="$1" '/^Locations/ { exit } on && /^ *[0-9]+ +[0-9]+ +[0-9]+:/ { sub(/:.*/, ""); sum += $n }
		/^samples\/count/ { on = 1 } END { printf "%.0f\n", sum }' raw
}

export_fixtures
for e in w s t cut bad; do
	profile $e.er
	check_that "$e: pprof reads it" "$? == 0" "$(cat err)"
	cpu=$(total cpu $e.er) all=$(total total $e.er)
	[ "$cpu" ] || cpu=$(total totalcpu $e.er)
	[ "$all" ] || all=$cpu
	check_that "$e: sums" "$(column 2) == $cpu && $(column 2) + $(column 3) == $all && $all > 0" "$(cat raw)"
done
profile w.er
check_that "samples are the recorded ones, without remainders" "$(column 1) == \
	$(er_export w.er | grep '^packet.*MSTATE' | awk '/ WFLAGS=/ { sub(/.* WFLAGS=/, ""); if (int($1 / 32) % 2) next } { n++ } END { print n }')"
profile -pid 12 -from 300ms w.er
check_that "a filter" "$(column 2) == $(total cpu -pid 12 -from 300ms w.er) && $(column 2) > 0" "$(cat raw)"
check_that "the filter is named" "$(grep -c 'Comment: Exported with the filter: PID IN (12)' raw) == 1" "$(cat raw)"
profile w.er
pprof -tags p.pb.gz >tags 2>err
for tag in "pid:" "tid:" "comm:" "cpu:" "state:" "(.*): 0$" ": worker$" ": Kernel CPU$"; do
	check_that "label $tag" "$(grep -c "$tag" tags) > 0" "$(cat tags)"
done
pprof -raw -tagfocus=comm=client p.pb.gz >raw 2>err
check_that "a label selects" "$(column 3) == $(total sleep -comm client w.er) && $(column 3) > 0" "$(cat err raw)"
profile w.er
check_that "the leaf comes first" "$(pprof -peek '^crunch$' -sample_index=cpu p.pb.gz 2>err | grep -c '| *work$') == 1" \
	"$(pprof -peek '^crunch$' p.pb.gz)"
check_that "sampled waits are marked as estimates" "$(grep -c '^Comment: Waits are sampled' raw) == 1"
profile cut.er
check_that "a killed recording is said to be" "$(grep -c '^Comment: .*was not closed' raw) > 0" "$(grep Comment raw)"

# Lines, inlined calls, mappings with build ids.
fresh
if gcc -shared -nostdlib -Wl,-z,noseparate-code,-Ttext=0x2000,--build-id=0x0123456789abcdef -Wl,-Bsymbolic \
	-o work.so "$top/tests/fixtures/source/work.s" && "$O/tests/golden/make_code" . work.so; then
	profile code.1.er
	check_that "the object's build id" "$(grep -c 'work.so 0123456789abcdef' raw) == 1" "$(cat raw)"
	check_that "lines" "$(grep -cE 'hot .*work\.c:[0-9]+' raw) > 0" "$(cat raw)"
	before=$(column 2)
	profile -inlines on code.1.er
	check_that "an inlined call is a line of its caller's location" \
		"$(grep -A 1 -E '0x[0-9a-f]+ M=[0-9]+ mix .*mix.h:7' raw | grep -cE '^ +(twice|warm) .*work.c:') == 2" "$(cat raw)"
	check_that "inlined calls add nothing" "$(column 2) == $before && $before > 0"
	check_that "pprof lists source by address" "$(cp "$top"/tests/fixtures/source/* . &&
		pprof -list '^hot$' -source_path . p.pb.gz 2>err | grep -c 'ROUTINE.* hot') > 0" "$(cat err)"
else
	not_ok "an object with lines"
fi

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# er_export --to: what holds for all formats, and folded stacks.
. "$(dirname "$0")/../lib/tools.sh"
. "$top/tests/lib/export.sh"

per_second=1000000 # folded stacks count microseconds

# folded OPTIONS…: the sum of the counts.
folded() { er_export --to folded -o - "$@" 2>/dev/null | awk '{ n += $NF } END { printf "%.0f\n", n }'; }

export_fixtures
put hwc.1.er h.er
put lacks.1.er lacks.er

# Sums equal er_print's, for every metric in recordings of all kinds. Traced times are excluded:
# they are no whole microseconds, so the last line may lose a part of one.
for e in w s t c h cut lacks; do
	bad= n=0
	for listed in $(er_print -metric_list $e.er 2>/dev/null | sed -n 's/^ei\([.+%]*[A-Za-z_-]*\) .*/\1/p'); do
		metric=${listed##*%}
		case $listed in *IPC | *CPI) continue ;; .+*) shown=+$metric ;; *) shown=$metric ;; esac
		want=$(total "$shown" $e.er) got=$(folded --metric "$metric" $e.er)
		case $metric in sync | io*time) got=$((got + 0)) want=${want%.*} ;; esac
		n=$((n + (want > 0)))
		[ "${want:-0}" = "${got:-0}" ] || bad="$bad $metric: $got, not $want;"
	done
	check_that "$e: every metric adds up to er_print's total" "\"$bad\" == \"\" && $n > 0" "$bad"
done
for options in "-pid 12" "-comm worker" "-from 300ms -to 700ms" "-thread_select 13" "-filters STATE==SLEEP"; do
	check_that "$options" "$(total total $options w.er) == $(folded --metric total $options w.er) &&
		$(folded --metric total $options w.er) > 0"
done
for root in state reason process; do
	check_that "--root $root keeps the sum" "$(total total w.er) == $(folded --metric total --root $root w.er)"
done
check_that "two experiments" "$(total user t.er c.er) == $(folded --metric user t.er c.er)"

er_export --to folded --root state -o - w.er >out
check_that "states as roots" "$(awk -F';' '{ print $1 }' out | sort -u | wc -l) == 11 &&
	$(awk -F'[; ]' '$1 == "Sleep" { n += $NF } END { print n }' out) == $(total sleep w.er)" "$(cat out)"
er_export --to folded --root reason -o - w.er >out
check_that "reasons as roots" "$(grep -c '^disk;start_thread;work;load;.* 150000$' out) == 1 &&
	$(grep -c '^On CPU;' out) > 0" "$(cat out)"
er_export --to folded --root process -o - w.er >out
check_that "processes as roots" "$(grep -c '^app, PID 12;main;serve;parse 100000$' out) == 1" "$(cat out)"
er_export --to folded -o - -object_hide LinuxKernel w.er >out
check_that "a hidden object is one frame" "$(grep -c 'ksys_write' out) == 0 &&
	$(grep -c '^main;serve;<LinuxKernel> 50000$' out) == 1" "$(cat out)"

# Files.
fresh
put rec.1.er a.er
check "the file's name begins with the experiment's" er_export --to folded a.er
check_that "the file's name ends as the format says" "$(cat a.folded | wc -l) == 1" "$(ls)"
check_that "no temporary file is left by an export" "\"$(echo *)\" == \"a.er a.folded\""
mkdir d && ln -s ../real d/link && echo old >real
er_export --to folded -o d/link a.er
check_that "a link's target is replaced" "$(grep -c '^main;r;r;r 1000$' real) == 1 && $([ -L d/link ]; echo $?) == 0"
check_that "permissions are those of a new file" "\"$(umask 027; er_export --to folded -o m a.er; stat -c %a m)\" == 640"
rm -f m
mkfifo pipe && cat pipe >got & sleep 0.2
[ -p pipe ] && er_export --to folded -o pipe a.er
wait
check_that "a pipe is written, not replaced" "$(wc -l <got) == 1 && $([ -p pipe ]; echo $?) == 0"
# Killed while it writes, it leaves nothing.
"$O/tests/bench/gen_experiment" big.1.er 40000 10000 10 20000 >/dev/null
# interrupt SIGNAL: send it while the program writes. It may have finished before on a busy machine.
interrupt()
{
	rm -rf $1
	mkdir $1
	env --default-signal=INT "$O/bin/er_export" --to perfetto -o $1/x big.1.er 2>err &
	pid=$!
	until ls -l /proc/$pid/fd 2>/dev/null | grep -q "$PWD/$1/" || ! kill -0 $pid 2>/dev/null; do :; done
	kill -$1 $pid 2>/dev/null
	wait $pid 2>/dev/null
}
for signal in INT TERM KILL; do
	for try in 1 2 3 4 5 6 7 8; do
		interrupt $signal
		status=$?
		[ $status = 0 ] || break
	done
	check_that "SIG$signal leaves no file" "$status > 128 && $(ls $signal | wc -l) == 0" \
		"status $status, try $try; $(ls -l $signal; cat err)"
done
rm -rf big.1.er INT TERM KILL
as_other= # another user than root, who may write anywhere
[ "$(id -u)" != 0 ] || as_other="setpriv --reuid=65534 --regid=65534 --clear-groups"
if $as_other true 2>/dev/null; then
	chmod 755 "$tmp" && chmod -R a+rX a.er && mkdir -m 777 open
	echo precious >open/old && chmod 444 open/old
	$as_other "$O/bin/er_export" --to folded -o open/old a.er 2>err
	check_that "a file that may not be written is not replaced" \
		"$? == 1 && $(grep -c precious open/old) == 1 && $(grep -c 'Permission denied: choose' err) == 1" "$(cat err)"
	mkdir -m 1777 sticky && $as_other ln -s "$PWD/real" sticky/link && echo precious >real
	if [ "$(cat /proc/sys/fs/protected_symlinks)" = 1 ] && [ "$(id -u)" = 0 ]; then
		er_export --to folded -o sticky/link a.er 2>err
		check_that "another user's link in a directory like /tmp is not followed" \
			"$? == 1 && $(grep -c precious real) == 1" "$(cat err)"
	else
		skip "another user's link in a directory like /tmp" "needs root and fs.protected_symlinks"
	fi
else
	skip "a file that may not be written" "setpriv is not installed"
fi
er_export --to folded -o - a.er 2>err | true
check_that "a closed pipe is no error" "$(wc -l <err) == 0" "$(cat err)"

fresh
put rec.1.er a.er
put hostile.1.er bad.er
put tree.1.er none.er
: >none.er/profile
echo precious >old
refuses "unknown format" "unknown format: there are page, folded" er_export --to flame a.er
refuses "no format" "--to" er_export -o x a.er
refuses "unknown root" "state, reason and process" er_export --to folded --root cpu a.er
refuses "unknown metric" "metric_list" er_export --to folded --metric cycles a.er
refuses "a metric for a format with all of them" "has no meaning for pprof" er_export --to pprof --metric user a.er
refuses "a ratio" "ratio" er_export --to folded --metric IPC -o x "$tmp/fixtures/hwc.1.er"
refuses "a command of er_print" "is a command of er_print only" er_export --to folded -functions a.er
refuses "no argument" "needs an argument" er_export a.er --to
refuses "a missing experiment" "No such file" er_export --to folded gone.er
refuses "a missing directory" "No such file.*choose another file" er_export --to folded -o no/x a.er
refuses "a directory" "Is a directory" er_export --to folded -o a.er a.er
refuses "a full disk" "No space left" er_export --to folded -o /dev/full a.er
refuses "a faulty filter" "" sh -c 'er_export --to folded -o x -pid abc a.er 2>&1 >/dev/null | head -n 1 >&2; exit 1'
refuses "nothing passes" "nothing to export" er_export --to folded -o old -pid 99 a.er
refuses "an empty experiment" "nothing to export: nothing was recorded\|no data to export" er_export --to folded -o old none.er

# has_status N OPTION...
has_status()
{
	local want=$1
	shift
	er_export "$@" >out 2>err
	local got=$?
	check_that "status $want: er_export $*" "$got == $want" "$got: $(cat err)"
}
for options in "--to pprof -from 100" "--to pprof -pid abc" "--to pprof --redact" "--to perfetto --metric user" \
	"--to folded --metric foo" "--to folded --root foo" "--to folded -viewmode foo" "--to flame"; do
	# shellcheck disable=SC2086
	has_status 2 $options -o x a.er
done
has_status 2 --to folded -filters 'PID ==' -o x a.er
has_status 1 --to folded -o x gone.er
has_status 1 --to folded -o x a.er gone.er
has_status 1 --to folded -o no/x a.er
has_status 1 --to folded -o x -pid 99 a.er
check_that "an old file is kept when an export fails" "\"$(cat old)\" == \"precious\""

# Hostile names.
er_export --to folded -o - bad.er >out 2>err
check_that "no control characters" "$(grep -c '[[:cntrl:]]' out) == 0 && $(wc -l <out) == 3" "$(cat -v out)"
check_that "UTF-8 stays" "$(grep -c 'résumé 2000$' out) == 1"
long=$(printf '%065536d' 0 | tr 0 'x')
sed -i "s/name=\"main\"/name=\"$long;y\"/" a.er/map.xml
er_export --to folded -o - a.er >out
check_that "a name of 64 KB is whole; its semicolon separates nothing" \
	"$(wc -c <out) > 65536 && $(awk -F';' '{ print NF }' out) == 4 && $(grep -c 'x:y;r;r;r 1000$' out) == 1" "$(tail -c 100 out)"

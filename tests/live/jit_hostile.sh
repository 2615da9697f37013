#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Traps in the place of a perf map or jitdump, while root records. A program runs generated code and makes
# its map a link, a FIFO, another user's file, a file with a hole of a terabyte, or a text with
# half lines, damaged UTF-8 and escape sequences; or it maps another user's file, or garbage, as its
# jitdump. The recording ends in time, shows nothing of root's
# secret, and its report keeps the terminal as it is.
. "$(dirname "$0")/../lib/live.sh"

command -v gcc >/dev/null || skip_all "gcc is not installed"
command -v setpriv >/dev/null || skip_all "setpriv is not installed"
nobody="setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all"
chmod 755 "$tmp"
echo "7e0000000000 1000 s3cr3t" >secret && chmod 600 secret
gcc -O1 -D_GNU_SOURCE -o generated "$top/tests/fixtures/source/generated.c" 2>gcc.err ||
	skip_all "gcc: $(head -n 1 gcc.err)"
on_exit=clean_up
clean_up() { [ -z "${pid:-}" ] || { kill "$pid" $writer; rm -rf "/tmp/perf-$pid.map"; }; } 2>/dev/null
writer=

# run CASE COMMAND [DUMP]: runs generated code as nobody. DUMP becomes its jitdump. The command makes
# the map of the process $pid.
run()
{
	sh -c 'set -e; [ -z "$2" ] || cp -p "$2" "$0/jit-$$.dump"; exec $1 ./generated ${2:+"$0"}' \
		"$tmp" "$nobody" "${3:-}" &
	pid=$!
	map=/tmp/perf-$pid.map
	eval "$2"
	must_record "$1.er" -p high -q 0 -F "=generated" -t 1.2
	kill $pid $writer && wait $pid $writer 2>/dev/null
	writer=
	rm -rf "$map"
	"$er_print" -functions "$1".er >"$1.txt" 2>&1
	check_that "$1: nothing of the secret is in the experiment" \
		"$(grep -rlF s3cr3t "$1.er" "$1.txt" | wc -l) == 0"
	check_that "$1: the time has no name" "$(unnamed "$1.er") > 0" "$(cat "$1.txt")"
}

unnamed() { seconds_of '<Unknown>' e.user "$1"/_generated_PID_*.er; }
refused() { sed -n 's/.*<generated.* refused="\([0-9]*\)".*/\1/p' "$1.er/recorder.xml"; }

run link 'ln -s "$tmp/secret" "$map"'
check_that "link: is refused" "$(refused link) == 1"
run fifo 'mkfifo -m 666 "$map"'
check_that "fifo: is refused" "$(refused fifo) == 1"
run owner 'cp secret "$map"; chmod 644 "$map"'
check_that "owner: another user's map is refused" "$(refused owner) == 1"
run directory 'mkdir "$map"'
run hole 'echo "7e0000001000 10 behind the code" >"$map"; truncate -s 1T "$map"; chown 65534 "$map"'
run grows '$nobody sh -c "while head -c 4M /dev/zero >>$map; do sleep 0.05; done" & writer=$!'

# In a root of its own the process's /tmp is a link; then it is a directory.
in_jail()
{
	chroot --userspec=65534:65534 jail /generated &
	pid=$!
	echo "7e0000000000 1000 listed" >"jail/$1/perf-$pid.map" && chown 65534 "jail/$1/perf-$pid.map"
	must_record "$1.er" -p high -q 0 -F "=generated" -t 1.2
	kill $pid && wait $pid 2>/dev/null
	seconds_of listed e.user "$1".er/_generated_PID_*.er
}
mkdir -p jail/real && ln -s real jail/tmp && gcc -static -O1 -D_GNU_SOURCE -o jail/generated \
	"$top/tests/fixtures/source/generated.c" 2>/dev/null && chmod 755 jail jail/real
if [ -x jail/generated ]; then
	seconds=$(in_jail real)
	check_that "linked-tmp: no link is followed on the way" "$seconds == 0"
	rm jail/tmp && mv jail/real jail/tmp
	seconds=$(in_jail tmp)
	check_that "own root: its /tmp is the one that is read" "$seconds > 0"
else
	skip "linked-tmp" "gcc builds no static programs"
fi

# A jitdump with one function, and what may be in its place.
{
	printf 'DTiJ\1\0\0\0\050\0\0\0\076\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0'
	printf '\0\0\0\0\117\0\0\0\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\176\0\0\0\0\0\0\0\176\0\0'
	printf '\020\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0s3cr3t\0\125\110\211\345\211\371\377\311\165\374\135\303\220\220\220\220'
} >dump
cp dump others && chmod 644 others
run dump-owner : others
check_that "dump-owner: another user's jitdump is refused" "$(refused dump-owner) == 1"
{ head -c 40 dump; head -c 200000 /dev/urandom; } >garbage && chown 65534 garbage
run dump-garbage : garbage
sed s/s3cr3t/listed/ dump >good && chown 65534 good
sh -c 'cp -p "$1" "$0/jit-$$.dump"; exec $2 ./generated "$0"' "$tmp" good "$nobody" &
pid=$!
map=/tmp/perf-$pid.map
must_record good.er -p high -q 0 -F "=generated" -t 1
kill $pid && wait $pid 2>/dev/null
check_that "the process's own jitdump has names" "$(seconds_of listed e.user good.er/_generated_PID_*.er) > 0"
check_that "and code" "$("$er_print" -disasm listed good.er 2>/dev/null |
	grep -cE '7e000000000[0-9a-f]: +(push|mov|dec|jne|pop|ret)') == 7" "$("$er_print" -disasm listed good.er)"

# What is listed there is true.
$nobody ./generated >out.text &
pid=$!
map=/tmp/perf-$pid.map
printf '7e0000000000 1000 \033[31mred\033]0;title\007 \377\376 \342\200\256<IDLE>\n7e0000000000 10' >"$map"
chown 65534 "$map"
must_record text.er -p high -q 0 -F "=generated" -t 1
kill $pid && wait $pid 2>/dev/null
rm -f "$map"
"$er_print" -functions text.er >text.txt 2>&1
check_that "text: its whole line is a name" "$(grep -c 'red.*title' text.txt) == 1" "$(cat -v text.txt)"
check_that "text: no byte of it reaches the terminal as it is" \
	"$(LC_ALL=C grep -c "$(printf '[\033\007\377]')" text.txt) == 0" "$(cat -v text.txt)"

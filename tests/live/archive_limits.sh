#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Limits of archives. Holes take no space and stay holes. -L and --archive-limit are obeyed. A
# signal ends archiving at once.
. "$(dirname "$0")/../lib/live.sh"

# The name is this test's alone: another checkout may run its tests at the same time.
prog=prog$$
ram=$tmp/ram
on_exit=clean_up
clean_up() { umount -l "$ram"; }
memory=$(awk '$1 == "MemAvailable:" { print int($2 / 1024) }' /proc/meminfo)
[ "${memory:-0}" -ge 3500 ] || skip_all "needs 3.5 GB of memory, there are $memory MB"
mkdir "$ram" && mount -t tmpfs -o size=3G er-archive "$ram" || skip_all "no tmpfs can be mounted"

# program DIRECTORY TAIL-MB: spin under the name prog, with this many MB appended.
program()
{
	cp "$syn/spin" "$1/$prog"
	head -c "$2M" /dev/zero | tr '\0' x >>"$1/$prog"
}

# copy EXPERIMENT DIRECTORY OPTIONS…: record prog and copy its binaries.
copy()
{
	local exp=$1 dir=$2
	shift 2
	must_record "$exp" -p high -F "=$prog" -A copy -q 0 "$@" -- "$dir/$prog" alpha:0.5
}
archives() { ls "$1/archives" 2>/dev/null | grep -c "^$2"; }
# header_has EXPERIMENT TEXT: the lines of the header that contain the text.
header_has() { "$er_print" -header "$1" | tr '\n' ' ' | tr -s ' ' | grep -c "$2"; }
# The experiment's size on the disk, in MB.
taken() { du -sm "$1/archives" | cut -f 1; }

cp "$syn/spin" $prog && truncate -s 1T $prog || skip_all "this file system has no large files"
begin=$SECONDS
copy sparse.er . --archive-limit 100
check_that "a sparse file of a terabyte is archived quickly" \
	"$(archives sparse.er "${prog}_") == 1 && $((SECONDS - begin)) < 60" "$(cat record.err)"
check_that "the archive of a sparse file has its length and its holes" \
	"$(stat -c %s sparse.er/archives/${prog}_*) == 1099511627776 && $(taken sparse.er) < 50" \
	"$(ls -ls sparse.er/archives)"
rm $prog
begin=$SECONDS
check_that "er_print reads the copied archive of a sparse file" "$(seconds_of alpha e.user sparse.er) > 0.3 && $((SECONDS - begin)) < 60"
"$O/bin/er_cp" sparse.er copied.er
check_that "er_cp keeps an archive's holes" "$(taken copied.er) < 50 && $((SECONDS - begin)) < 120 &&
	$(stat -c %s copied.er/archives/${prog}_*) == 1099511627776" "$(ls -ls copied.er/archives)"
"$O/bin/er_mv" copied.er "$ram/moved.er"
check_that "er_mv to another file system keeps an archive's holes" "$(taken "$ram/moved.er") < 50 &&
	$(stat -c %s "$ram"/moved.er/archives/${prog}_*) == 1099511627776" "$(ls -ls "$ram"/moved.er/archives)"
"$O/bin/er_rm" "$ram/moved.er" sparse.er

# A debug file must have the right checksum. For a file of a terabyte none is computed.
if objcopy --remove-section .note.gnu.build-id "$syn/spin" $prog 2>/dev/null; then
	echo small >far && objcopy --add-gnu-debuglink=far $prog && truncate -s 1T far
	begin=$SECONDS
	timeout 60 "$er_kernel" -o far.er -p high -F "=$prog" -q 0 -- ./$prog alpha:0.5 >out 2>err
	check_that "a debug file of a terabyte is left alone" "$? == 0 && $((SECONDS - begin)) < 60" \
		"$(cat err)"
	rm $prog far
fi

program "$ram" 64
copy own.er "$ram" --archive-limit 16
check_that "only binaries above --archive-limit are left out" \
	"$(archives own.er "${prog}_") == 0 && $(archives own.er libc) == 1 && $(taken own.er) <= 16" \
	"$(ls -ls own.er/archives; cat record.err)"
check_that "and a message says so" \
	"$(grep -c '1 binary is not archived, because there is no room: raise --archive-limit' record.err) == 1 &&
	$(header_has own.er 'the archives had no room') == 1" "$(cat record.err; "$er_print" -header own.er)"
copy counts.er "$ram" -L 32
check_that "archives count towards -L" "$(archives counts.er "${prog}_") == 0 && $(taken counts.er) <= 32" \
	"$(ls -ls counts.er/archives; cat record.err)"
copy fits.er "$ram" -L 200
check_that "binaries that fit into -L are archived" "$(archives fits.er "${prog}_") == 1 && $(wc -l <record.err) == 0" \
	"$(ls -ls fits.er/archives; cat record.err)"

# stop_archiving EXPERIMENT PID: end the process while it copies a large binary, one whose copy is
# there in many looks. The copy may take half a second only, so nothing is run in between, and this
# shell has the priority of the recorder. Sets status, and `took`: the microseconds from the signal to
# the end.
stop_archiving()
{
	local begin last= n=0 new
	renice -n -20 -p $$ >/dev/null 2>&1
	while [ $n -lt 200 ] && kill -0 $2 2>/dev/null; do
		new=("$1"/archives/.new.*)
		[ -e "${new[0]}" ] && [ "${new[0]}" = "$last" ] && n=$((n + 1)) || n=0
		last=${new[0]}
	done
	kill -TERM $2
	begin=${EPOCHREALTIME/./}
	wait $2
	status=$?
	took=$((${EPOCHREALTIME/./} - begin))
	renice -n 0 -p $$ >/dev/null 2>&1
}

program "$ram" 2000
"$er_kernel" -o stopped.er -p high -F "=$prog" -A copy -L unlimited --archive-limit unlimited -q 0 -- \
	"$ram/$prog" alpha:0.5 >out 2>err &
stop_archiving stopped.er $!
check_that "SIGTERM ends archiving at once" "$status == 0 && $took < 1000000 &&
	$(archives stopped.er "${prog}_") == 0 && $(ls -A stopped.er/archives | grep -c '^\.new') == 0" \
	"$took us, status $status: $(cat err; ls -lA stopped.er/archives)"
check_that "and a message says so" "$(grep -c 'archiving was interrupted' err) == 1" "$(cat err)"
check_that "and the experiment, until er_archive adds the rest" \
	"$(header_has stopped.er 'not archived, because archiving was interrupted: ') == 1" \
	"$("$er_print" -header stopped.er)"

# The same for er_archive.
must_record later.er -p high -F "=$prog" -A off -q 0 -- "$ram/$prog" alpha:0.5
"$O/bin/er_archive" -A later.er 2>err &
stop_archiving later.er $!
check_that "SIGTERM ends er_archive at once" "$status == 1 && $took < 1000000 &&
	$(archives later.er "${prog}_") == 0 && $(ls -A later.er/archives | grep -c '^\.new') == 0" \
	"$took us, status $status: $(cat err; ls -lA later.er/archives)"

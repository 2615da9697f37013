#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# At every instruction of a compiled program, the stack walked by the unwind tables must equal the
# one that calls and returns made, and must be complete. Uses our own code, built in several ways,
# and the start of programs of the distribution.
. "$(dirname "$0")/../lib/tap.sh"

step=$O/tests/unwind/step
target=$top/tests/fixtures/source/unwind_target.c
cc=$(command -v gcc || command -v clang) || { skip "unwind_step" "no C compiler"; exit 0; }

# stepped NAME SHARE FIRST LAST COMMAND...: no stack is wrong, and at least SHARE of all are
# complete.
stepped()
{
	name=$1 share=$2
	shift 2
	"$step" "$@" >"$tmp/out" 2>&1 </dev/null
	last=$(grep ' compared ' "$tmp/out" | tail -n 1)
	n=$(echo "$last" | sed -n 's/.* compared \([0-9]*\).*/\1/p')
	bad=$(echo "$last" | sed -n 's/.* wrong \([0-9]*\).*/\1/p')
	whole=$(echo "$last" | sed -n 's/.* proven \([0-9]*\).*/\1/p')
	check_that "$name: ${n:-0} instructions, ${bad:-?} wrong, ${whole:-0} complete" \
		"${n:-0} > 1000 && ${bad:-1} == 0 && ${whole:-0} >= $share * ${n:-1}" "$(tail -n 30 "$tmp/out")"
}

build()
{
	"$1" -w -fomit-frame-pointer "${@:2}" -x c "$target" -o "$tmp/target" 2>"$tmp/err"
}

while read -r name flags; do
	build "$cc" $flags || { skip "$name" "$(head -n 1 "$tmp/err")"; continue; }
	stepped "$name" 0.999 0 150000 "$tmp/target"
done <<'LIST'
gcc-O2 -O2
lazy -O2 -Wl,-z,lazy -fcf-protection
O0 -O0
O3 -O3 -march=x86-64-v2
debug_frame -O2 -g -fno-asynchronous-unwind-tables -fno-unwind-tables
debug_frame,compressed -O2 -g -gz=zlib -fno-asynchronous-unwind-tables -fno-unwind-tables
static -O2 -static
static-pie -O2 -static-pie
LIST
if command -v clang >/dev/null; then
	build clang -O2
	stepped clang 0.999 0 150000 "$tmp/target"
else
	skip clang "not installed"
fi

# Code with frame pointers and without entries: a stack may be cut only where the caller cannot be
# determined.
for flags in -O0 -O2 "-O2 -fcf-protection"; do
	for other in gcc clang; do
		command -v $other >/dev/null || { skip "frame pointers, $other" "not installed"; continue; }
		build $other $flags -fno-omit-frame-pointer -fno-asynchronous-unwind-tables -fno-unwind-tables
		stepped "frame pointers, $other $flags" 0.95 105000 150000 "$tmp/target"
	done
done

printf 'b\na\nc\n' >"$tmp/lines"
stepped sort 0.999 0 100000 /usr/bin/sort "$tmp/lines"
for program in "perl -e 'print 1'" "python3 -S -c 'print(1)'" "openssl version"; do
	command -v ${program%% *} >/dev/null || { skip "${program%% *}" "not installed"; continue; }
	eval "set -- $program"
	stepped "${program%% *}" 0.999 60000 200000 "$@"
done

# Code that PCRE2 generates for regular expressions, from before the first match on.
if "$cc" -O1 -w -D_GNU_SOURCE -I"$top" "$top/tests/fixtures/source/regex.c" -o "$tmp/regex" 2>"$tmp/err" &&
	"$tmp/regex" 0 >"$tmp/out" 2>"$tmp/err"; then
	stepped "PCRE2's code" 0.999 150000 350000 "$tmp/regex" 0
else
	skip "PCRE2's code" "$(head -n 1 "$tmp/err")"
fi

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# make fuzz: run.sh OUTPUT
#
# Runs each target for FUZZ_SECONDS (15), from seeds made of the fixtures and the golden
# tests. With FUZZ_SEED=1, as in make check, the inputs are the same each time, as far as the
# time goes. With FUZZ_CORPUS=DIR new inputs are kept there and used in the next run. Prints one
# line per target. An input that crashes a target is kept in OUTPUT/crashes and named.
# Time limit: 1800 s
set -u

unset CDPATH # with CDPATH cd prints the directory
top=$(cd "$(dirname "$0")/../.." && pwd)
. "$top/tests/lib/env.sh"
O=$(cd "$1" && pwd) || exit 2
seconds=${FUZZ_SECONDS:-15}
corpus=${FUZZ_CORPUS:-}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT

"$O/tests/fuzz/seeds" "$work" || { echo "not ok fuzz: seeds"; exit 1; }
mkdir -p "$work/filter" "$work/script" "$work/ehframe" "$work/jit" "$work/hotspot" "$work/java" "$work/heap" "$work/probe" "$O/crashes"

# Expressions and commands from the golden tests.
n=0
grep -hoE "filters? '[^']*'" "$top"/tests/golden/*/cmd | sed "s/^[^']*'//; s/'$//" | sort -u |
	while read -r line; do n=$((n + 1)); printf '%s' "$line" >"$work/filter/$n"; done
grep -h er_print "$top"/tests/golden/*/cmd | sed 's/.*er_print //; s/[a-z0-9.]*\.er.*//; s/^-//; s/ -/\n/g' |
	tr "'" '"' | sort -u | split -l 8 - "$work/script/"
cat >"$work/small.c" <<-END
static inline int twice(int x) { return 2 * x; }
int work(int n) { int s = 0; for (int i = 0; i < n; i++) s += twice(i); return s; }
END
for flags in "-gdwarf-5 -O2" "-gdwarf-4 -O2 -gz" "-gdwarf-2 -O1"; do
	${CC:-gcc} $flags -nostdlib -shared -o "$work/elf/so$((n += 1))" "$work/small.c" 2>/dev/null
done

# Files with names of generated code; the first byte says which format the file has.
printf '\0007f00deadb000 20 JS:*fib /tmp/a b.js:1:13\n0x10 0xff Lcom/A;::run\r\n1000 10 \377\033[31m\nhalf' \
	>"$work/jit/lines"
{
	printf '\001DTiJ\1\0\0\0\050\0\0\0\076\0\0\0%24s' ''
	printf '\0\0\0\0\100\0\0\0%16s\0\0\0\0\0\177\0\0\0\0\0\0\0\177\0\0' ''
	printf '\2\0\0\0\0\0\0\0%8sname\0\220\303' ''
} >"$work/jit/dump"

# The memory of a Java VM: which version, and what is changed in it.
printf '\0' >"$work/hotspot/17"
printf '\1\0\0\0\0' >"$work/hotspot/25"

# The same and a walk: the version, where the leaf is, and changes.
printf '\0\0\5\0\0\100\0\100\2\377\0\050\021\0' >"$work/java/method"
printf '\1\0\235\0\0\100\0\100\2\0\0\2\021' >"$work/java/interpreter"

# Slots of a ring; the byte before each says what the reader does.
{
	printf '\0\020\0\0\0\1\0\0\0\143\0\0\0\0\0\0\0%8s\4\0\0\0\3\0\0\0%24s' '' ''
	printf '\362\021\0\0\0\1\0\0\0%48s\362\0\0\0\0\1\0\0\0%48s' '' ''
} >"$work/heap/slots"

# Binaries with places for probes, and texts that name places; the first byte says which.
printf '#include "user/api/usdt.h"\nUSDT_SEMAPHORE(a, b);\nvoid pass(void *p, int n) { USDT_PROBE(a, b, p, n); }\n' |
	cat - "$work/small.c" >"$work/usdt.c"
${CC:-gcc} -I"$top" -g -O2 -nostdlib -shared -o "$work/usdt.so" "$work/usdt.c" &&
	{ printf '\0'; cat "$work/usdt.so"; } >"$work/probe/usdt"
for text in 'q=x:std::f(int, char),g(1:str,ret:int)' 'usdt:x:a:b(1:u8) if arg1 > 0x10 && arg2 & 3' \
	'-4@%edi 8@-16(%rbp,%rax,8) 2@$-5' "	field:__data_loc char[] comm;	offset:8;	size:4;	signed:0;"; do
	printf '\1%s' "$text" >"$work/probe/$((n += 1))"
done

# Sections of call frame information; the first byte says which form the section has.
${CC:-gcc} -O2 -g -c -fexceptions -o "$work/eh.o" "$work/small.c" &&
	${CC:-gcc} -O2 -g -c -fno-asynchronous-unwind-tables -o "$work/debug.o" "$work/small.c"
for seed in eh:.eh_frame:0 debug:.debug_frame:1 eh:.eh_frame:4; do
	IFS=: read -r file section form <<<"$seed"
	objcopy -O binary --only-section=$section --set-section-flags $section=alloc \
		"$work/$file.o" "$work/section" &&
		{ printf "\\$form"; cat "$work/section"; } >"$work/ehframe/$file$form"
done

# fuzz KIND: run its target, and print one line for it; with its last output if it failed.
fuzz()
{
	local kind=$1 dir=$work/$1 log=$work/log.$1
	[ -z "$corpus" ] || { mkdir -p "$corpus/$kind" && dir="$corpus/$kind $dir"; }
	# Interceptors observe memcmp and strcmp; leaks are checked at the end.
	if (cd "$work" && TMPDIR=$work timeout $((seconds * 4 + 120)) "$O/tests/fuzz/target_$kind" \
		-max_total_time="$seconds" -seed="${FUZZ_SEED:-0}" -timeout=20 -rss_limit_mb=2048 -max_len=65536 \
		-print_final_stats=1 -artifact_prefix="$O/crashes/$kind-" $dir) >"$log" 2>&1; then
		echo "ok fuzz: $kind: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") inputs in $seconds s, $(
			grep -oE 'cov: [0-9]+' "$log" | tail -n 1)"
	else
		echo "not ok fuzz: $kind: $(grep -oE "$O/crashes/[^ ]*" "$log" | tail -n 1)"
		grep -vE '^#[0-9]+	' "$log" | tail -n 40 | sed 's/^/#   /'
	fi >"$work/said.$kind"
	cat "$work/said.$kind"
}

# As many targets at once as there are CPUs.
for kind in experiment xml elf ehframe unwind jit hotspot java heap probe filter script; do
	while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do wait -n; done
	fuzz $kind &
done
wait
! cat "$work"/said.* | grep -q '^not ok'

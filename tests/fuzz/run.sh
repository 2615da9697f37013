#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# make fuzz: run.sh OUTPUT
#
# Runs each target for FUZZ_SECONDS (15), from seeds made of the fixtures and the golden
# tests. With FUZZ_SEED=1, as in make check, the inputs are the same each time, as far as the
# time goes. With FUZZ_CORPUS=DIR new inputs are kept there and used in the next run. Prints one
# line per target. An input that crashes a target is kept in OUTPUT/crashes and named.
set -u

unset CDPATH # with CDPATH cd prints the directory
top=$(cd "$(dirname "$0")/../.." && pwd)
. "$top/tests/lib/env.sh"
O=$(cd "$1" && pwd) || exit 2
seconds=${FUZZ_SECONDS:-15}
corpus=${FUZZ_CORPUS:-}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
failed=0

"$O/tests/fuzz/seeds" "$work" || { echo "not ok fuzz: seeds"; exit 1; }
mkdir -p "$work/filter" "$work/script" "$work/ehframe" "$O/crashes"

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

# Sections of call frame information; the first byte says which form the section has.
${CC:-gcc} -O2 -g -c -fexceptions -o "$work/eh.o" "$work/small.c" &&
	${CC:-gcc} -O2 -g -c -fno-asynchronous-unwind-tables -o "$work/debug.o" "$work/small.c"
for seed in eh:.eh_frame:0 debug:.debug_frame:1 eh:.eh_frame:4; do
	IFS=: read -r file section form <<<"$seed"
	objcopy -O binary --only-section=$section --set-section-flags $section=alloc \
		"$work/$file.o" "$work/section" &&
		{ printf "\\$form"; cat "$work/section"; } >"$work/ehframe/$file$form"
done

for kind in experiment xml elf ehframe unwind filter script; do
	dir=$work/$kind
	[ -z "$corpus" ] || { mkdir -p "$corpus/$kind" && dir="$corpus/$kind $dir"; }
	# Interceptors observe memcmp and strcmp; leaks are checked at the end.
	if (cd "$work" && TMPDIR=$work timeout $((seconds * 4 + 120)) "$O/tests/fuzz/target_$kind" \
		-max_total_time="$seconds" -seed="${FUZZ_SEED:-0}" -timeout=20 -rss_limit_mb=2048 -max_len=65536 \
		-print_final_stats=1 -artifact_prefix="$O/crashes/$kind-" $dir) >"$work/log" 2>&1; then
		echo "ok fuzz: $kind: $(sed -n 's/^stat::number_of_executed_units: *//p' "$work/log") inputs in $seconds s, $(
			grep -oE 'cov: [0-9]+' "$work/log" | tail -n 1)"
	else
		failed=1
		echo "not ok fuzz: $kind: $(grep -oE "$O/crashes/[^ ]*" "$work/log" | tail -n 1)"
		grep -vE '^#[0-9]+	' "$work/log" | tail -n 40 | sed 's/^/#   /'
	fi
done
exit $failed

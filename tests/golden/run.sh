#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Golden tests of er_print: run.sh OUTPUT [--update] [case…]
#
# A case is a directory with two files.
# `cmd` is a shell script, which runs in a directory with copies of the fixtures. `expected` is its
# output (both streams) and its status if that is not 0. Each case prints one line. With --update
# the differences are shown and become the expected output.
# Time limit: 600 s
set -u

unset CDPATH # with CDPATH cd prints the directory
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lib/env.sh"
O=$(cd "$1" && pwd) || exit 2
shift
update=
[ "${1:-}" != --update ] || { update=1; shift; }
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
PATH=$O/bin:$PATH
export PATH
failed=0

ok() { echo "ok golden: $1"; }
not_ok() { echo "not ok golden: $1"; failed=1; }

# Replace what differs between builds or days, and nothing else.
scrub() { sed 's/^er_print [0-9][0-9.]*$/er_print VERSION/'; }

# Have a copy of the fixtures. Most cases change nothing, so that the next one can use their copy.
fresh_copy()
{
	[ ! -d "$work/copy" ] || [ -n "$(find "$work/copy" -cnewer "$work/copied" -print -quit)" ] || return
	rm -rf "$work/copy"
	cp -R "$work/fixtures" "$work/copy"
	touch "$work/copied"
	sleep 0.02 # file systems date changes by ticks
}

# run_case NAME
run_case()
{
	dir=$here/$1
	case $1 in
	*collect_* | *COLLECT*) # the recorder is not built where only the analysis is
		[ -x "$O/bin/collect" ] || { echo "skip golden: $1: collect is not built"; return; } ;;
	esac
	fresh_copy
	(cd "$work/copy" && sh "$dir/cmd" 2>&1 </dev/null; s=$?; [ $s = 0 ] || echo "status $s") |
		scrub >"$work/got"
	expected=$dir/expected
	[ -f "$expected" ] || expected=/dev/null
	if cmp -s "$expected" "$work/got"; then
		ok "$1"
	elif [ "$update" ]; then
		diff -u "$expected" "$work/got"
		cp "$work/got" "$dir/expected"
	else
		not_ok "$1"
		diff -u "$expected" "$work/got" | sed 's/^/#   /'
	fi
}

# Each command that er_print lists has a case of its name and an entry in the man page. It refuses
# surplus arguments. If it takes arguments, one case shows how it fails.
coverage()
{
	er_print -help | awk '/^  [a-z]/ { sub(/, [a-z_]+/, ""); print $1, /^  [^ ]+ [^ ]/ }' \
		>"$work/table"
	cut -d' ' -f1 "$work/table" >"$work/commands"
	failing=$(grep -lE "^status [1-9]" "$here"/*/expected | sed 's|expected$|cmd|')
	[ -s "$work/commands" ] || not_ok "er_print -help lists commands"
	while read -r c args; do
		grep -qs -- "$c" "$here/$c/cmd" || not_ok "$c: has a case that runs it"
		refuses "$c" || not_ok "$c: refuses arguments that it does not take"
		[ "$args" = 0 ] || fails "$c" || not_ok "$c: has a case in which it fails"
	done <"$work/table"
	sed -n 's/^\.It Ic \([a-z_-]*\).*/\1/p' "$here/../../docs/man/er_print.1" >"$work/man"
	if cmp -s "$work/commands" "$work/man"; then
		ok "the man page has the commands of the table, in its order"
	else
		not_ok "the man page has the commands of the table, in its order"
		diff "$work/commands" "$work/man" | sed 's/^/#   /'
	fi
}

refuses()
{
	echo "$1 a b c d e f g" | er_print - "$work/fixtures/tree.1.er" 2>&1 >/dev/null |
		grep -q "^er_print: standard input:1: $1: "
}

# Whether a case that names the command ends with a failure. $failing has the commands of those that do.
fails() { grep -qE "(^|[^a-z_])$1([^a-z_]|\$)" $failing; }

for program in bin/er_print tests/golden/make_fixtures tests/golden/make_waits \
	tests/golden/make_kinds tests/golden/make_counters tests/golden/make_folds \
	tests/golden/make_code tests/golden/make_spans tests/golden/make_segments; do
	[ -x "$O/$program" ] || { not_ok "$program is built"; exit 1; }
done
mkdir "$work/fixtures"
for make in make_fixtures make_waits make_kinds make_counters make_folds make_spans make_segments; do
	"$O/tests/golden/$make" "$work/fixtures" || { not_ok "$make"; exit 1; }
done
# Assemble machine code for source and disassembly: x86-64, by this machine's assembler.
source=$here/../fixtures/source
gcc -shared -nostdlib -Wl,-z,noseparate-code,-Ttext=0x2000,--build-id=none,-Bsymbolic \
	-o "$work/work.so" "$source/work.s" && "$O/tests/golden/make_code" "$work/fixtures" "$work/work.so" &&
	mkdir "$work/fixtures/src" && cp "$source/work.c" "$source/mix.h" "$source/work.s" "$work/work.so" "$work/fixtures/src/" ||
	{ not_ok "make_code"; exit 1; }
if [ $# -gt 0 ]; then
	for c; do run_case "$c"; done
else
	for dir in "$here"/*/; do run_case "$(basename "$dir")"; done
	coverage
fi
exit $failed

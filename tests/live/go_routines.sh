#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Goroutines of a stripped Go program: go_routines.go knows their numbers and the time of each.
# Time limit: 200 s
. "$(dirname "$0")/../lib/live.sh"

command -v go >/dev/null || skip_all "go is not installed: apt-get install golang-go"
HOME=$tmp GO111MODULE=off go build -ldflags='-s -w' -o go_routines "$top/tests/live/go_routines.go" \
	"$top/tests/live/go_clock.go" 2>go.err ||
	skip_all "go build: $(head -n 1 go.err)"

# recorded PROGRAM EXPERIMENT: the first process makes the unwind table. The program's lines are in record.out.
recorded()
{
	stolen=$(steal)
	must_record "$2" -p high -q 0 -F "=$1" -- sh -c \
		"./$1 0.02 >first; ./$1 0.3 & echo \$! >own; wait \$!"
	stolen=$(stolen_since "$stolen")
}

# of_goroutine EXPERIMENT NUMBER METRIC: its seconds in the list of goroutines.
of_goroutine()
{
	"$er_print" -printmode , -metrics "$3:name" -indxobj Goroutines "$1" | csv_rows |
		awk -F'\t' -v n="goroutine $2, " -v p=", PID $(cat own)\$" \
			'index($2, n) == 1 && $2 ~ p { s += $1 } END { printf "%.6f\n", s }'
}

# has_time EXPERIMENT WHAT NUMBER SECONDS: the list has the goroutine's own seconds, on CPUs or off them.
has_time()
{
	local metric=e.totalcpu got above=1.05
	[ "$2" != waits ] || { metric=e.total above=1.3; } # it waits for a CPU, too
	got=$(of_goroutine "$1" "$3" $metric)
	check_that "$1: goroutine $3 $2" "$got > 0.9 * $4 - 0.01 - $stolen && $got < $above * $4 + 0.01 + $stolen" \
		"$got of $4 seconds, stolen $stolen"
}

recorded go_routines go.er
check_that "the program says its goroutines" "$(wc -l <record.out) == 6" "$(cat record.out)"
while read -r what number own; do
	has_time go.er "$what" "$number" "$own"
done <record.out

number=$(awk '$1 == "computes" { print $2; exit }' record.out)
listed=$(of_goroutine go.er "$number" e.totalcpu)
"$er_print" -printmode , -filters "GOID==$number && PID==$(cat own)" -metrics e.totalcpu:name -functions go.er >functions.out
got=$(csv_rows <functions.out | awk -F'\t' '$2 == "<Total>" { print $1 }')
check_that "a filter chooses a goroutine" "${got:-0} > 0 && ${got:-0} == $listed" "$got, $listed"
check_that "its functions are its own" "$(grep -c 'main\.work' functions.out) == 1 && $(grep -c 'main\.asks' functions.out) == 0" \
	"$(cat functions.out)"
"$er_print" -printmode , -metrics e.totalcpu:name -indxobj Goroutines go.er | csv_rows >list
got=$(awk -F'\t' '/goroutine [0-9]/ { s += $1 } END { print s }' list)
own=$(query 'sum(NTICK) from packets where ON_CPU && GOID > 0' go.er | awk '{ s += $1 } END { print s / 1e6 }')
check_that "the packets have these numbers" "$got > $own - 0.05 && $got < $own + 0.05" "$got of $own seconds"
check_that "other times are one row" "$(grep -c '<no goroutine>' list) == 1" "$(cat list)"
check_that "no version of Go is unknown" "$("$er_print" -header full go.er | grep -c 'goroutines are not known') == 0"

# The same program with an instruction that does the same and looks different: the place of the number is not found.
perl -0777 -pe '$n = s/\x48\x8b\x8e\x80\x01\0\0\x48\K\x39(?=\x8e\x88\x01\0\0\x75)/\x3b/g; END { exit !($n == 1) }' \
	go_routines >go_other && changed=yes || changed=
if [ "$changed" ]; then
	chmod +x go_other
	must_record other.er -q 0 -- ./go_other 0.1
	check_that "an unknown program is named by its version of Go" \
		"$("$er_print" -header full other.er | grep -c 'Programs of Go 1\.[0-9]*: the numbers of their goroutines are not known') == 1" \
		"$("$er_print" -header full other.er)"
	check_that "and has no goroutines" "$("$er_print" -goroutines other.er | grep -c 'goroutine [0-9]') == 0"
else
	skip "a program whose goroutines are not known" "$(go version) makes other code"
fi

# A position-independent program finds the goroutine in another way.
if HOME=$tmp GO111MODULE=off timeout 100 go build -buildmode=pie -ldflags='-s -w' -o go_routines_pie \
	"$top/tests/live/go_routines.go" "$top/tests/live/go_clock.go" 2>go.err; then
	recorded go_routines_pie pie.er
	while read -r what number own; do
		has_time pie.er "$what" "$number" "$own"
	done <record.out
else
	skip "a position-independent program" "go build: $(head -n 1 go.err)"
fi

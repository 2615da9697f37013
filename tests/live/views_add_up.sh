#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# All views of one recording agree, with and without filters: the rows of each list add up to its
# total in each state, all lists have the same total, and so has the report on thread states, which
# also adds up to the exact times of threads.xml.gz.
# Time limit: 600 s
. "$(dirname "$0")/../lib/live.sh"

must_record all.er -F '=^(spin|contend)$' -p high -q 0 -- \
	sh -c '"$syn/spin" "outer>alpha:0.3" beta:0.1; "$syn/contend"' >/dev/null
states="total user system trap textpfault datapfault kernelpfault lock sleep wait stop kcpu"
metrics=$(for m in $states; do printf 'e.%s:' "$m"; done)name
lists="functions pcs lines threads processes cpus samples seconds experiment_ids states reasons
	comms cgroups"
pid=$("$er_print" -experiment_list all.er | awk '/_contend_PID/ { print $3; exit }')

# Prints rows that do not add up; each row may be off by a thousandth. The total is kept.
adds_up()
{
	"$er_print" -printmode , "$@" all.er 2>/dev/null | awk -F'","' '
		/^"[0-9.]+","/ { sub(/^"/, "")
			if (!total++) { for (i = 1; i < NF; i++) sum[i] = $i; print >"total"; next }
			rows++
			for (i = 1; i < NF; i++) sum[i] -= $i }
		END { for (i = 1; i < NF; i++) if (sum[i] ^ 2 > (0.0006 * rows + 0.001) ^ 2)
				print "column " i ": the rows are off by " sum[i]
			if (!total || !rows) print "no rows" }'
}

# The report's times in the order of $states. It counts the kernel's own part as system.
report_total()
{
	"$er_print" -printmode csv "$@" -microstates all.er 2>/dev/null | awk -F, '
		/<Total>/ { gsub(/"/, ""); print $1, $2, $4, $20, $22, $10, $12; exit }'
}

# check_views NAME OPTIONS…
check_views()
{
	local name=$1 list bad= first=
	shift

	for list in $lists; do
		bad=$bad$(adds_up "$@" -metrics "$metrics" "-$list" | sed "s/^/$list: /")
		[ "$first" ] || first=$(cat total)
		[ "$first" = "$(cat total)" ] || bad="$bad $list: total $(cat total), not $first"
	done
	check "$name: the rows of each list add up to one total ($bad)" [ -z "$bad" ]

	# total, user, system, stopped, sleep, wait, lock
	set -- $(report_total "$@") $(echo "$first" | tr -d '"' |
		awk -F, '{ print $1, $2, $3, $11, $9, $10, $8 }')
	check "$name: microstates has the same ($*)" \
		[ "$1 $2 $3 $4 $5 $6 $7" = "$8 $9 ${10} ${11} ${12} ${13} ${14}" ]
}

check_views "all"
cpu=$(query 'max(CPUID) from packets where ON_CPU' all.er)
check_views "one CPU" -filters "CPUID==$cpu"
check_views "one process" -filters "PID==$pid"
# From the start of the founder. On a busy machine the recording may begin a second later.
middle=$("$er_print" -header 1 all.er |
	awk '/Recorded for/ { printf "%.0f", ($(NF - 2) + $NF) / 2 * 1e9 }')
check_views "the first half" -filters "TSTAMP<$middle"

# Rows that the filter keeps as a whole are compared. Rows that it cuts cannot be.
report=$("$er_print" -filters "PID==$pid" -microstates all.er)
check "microstates of one process are compared with its exact times" \
	sh -c 'echo "$1" | grep -qE "^Checked: the states of each row|^[*]{3} .*time in the recording"' sh "$report"
report=$("$er_print" -filters "PID==$pid && TSTAMP%2==0" -microstates all.er)
check "microstates say what is a part" sh -c 'echo "$1" | grep -q "the filter cut"' sh "$report"

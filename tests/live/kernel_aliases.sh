#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# fsummary shows the other names of a kernel function as /proc/kallsyms has them.
. "$(dirname "$0")/../lib/live.sh"

# Copies much memory in the kernel: memcpy, memset and their like have several names.
must_record k.er -p high -t 3 sh -c \
	'end=$(($(date +%s) + 2)); while [ "$(date +%s)" -le $end ]; do head -c 9999 /proc/kallsyms; done >/dev/null'
"$er_print" -fsummary k.er >summary 2>err

# "FUNCTION: ALIASES…", sorted, of vmlinux's functions at their addresses.
awk '/^vmlinux`/ { name = substr($1, 9) }
	/^[^ ]/ && !/^vmlinux`/ { name = "" }
	name && $1 == "PC" { split($3, a, ":0x"); addr = a[2] }
	name && $1 == "Aliases:" && NF > 1 { $1 = ""; print addr, name $0 }' summary |
	while read -r addr names; do
		echo "$addr $(echo "$names" | tr ' ' '\n' | sort | tr '\n' ' ')"
	done | sed 's/^0*//' | sort >shown
awk '/^vmlinux`/ { want = 1 } /^[^ ]/ && !/^vmlinux`/ { want = 0 }
	want && $1 == "PC" { split($3, a, ":0x"); sub(/^0*/, "", a[2]); print a[2] }' summary >starts
awk 'FNR == NR { start[$1] = 1; next }
	$2 ~ /[tTwW]/ && ($1 in start) { n[$1]++; names[$1] = names[$1] " " $3 }
	END { for (a in n) if (n[a] > 1) print a names[a] }' starts /proc/kallsyms |
	while read -r addr names; do
		echo "$addr $(echo "$names" | tr ' ' '\n' | sort | tr '\n' ' ')"
	done | sort >wanted

[ -s wanted ] || skip_all "no kernel function with two names was sampled"
check_that "kernel functions have the names that the kernel lists" \
	"\"$(tr '\n' ';' <shown)\" == \"$(tr '\n' ';' <wanted)\"" "$(diff shown wanted)"

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Which folder may include which (docs/architecture.md). Fails for each #include line that
# points upwards. A row has a folder and the folders that it may use.
. "$(dirname "$0")/tap.sh"

cat >"$tmp/rows" <<'END'
analysis/base
analysis/experiment analysis/base
analysis/symbols    analysis/base analysis/experiment
analysis/model      analysis/base analysis/experiment analysis/symbols
analysis/metrics    analysis/base analysis/experiment analysis/symbols analysis/model
analysis/views      analysis/base analysis/experiment analysis/symbols analysis/model analysis/metrics
analysis/findings   analysis/base analysis/experiment analysis/symbols analysis/model analysis/metrics analysis/views
analysis/print      analysis/base analysis/views
analysis/export     analysis/base analysis/experiment analysis/symbols analysis/model analysis/metrics analysis/views analysis/findings
analysis/files       analysis/base analysis/experiment analysis/symbols analysis/model
analysis/command    analysis
tools               analysis
bpf
loaders             bpf/er_event.h bpf analysis/base
user/space          analysis/base analysis/experiment analysis/symbols bpf/frame.h loaders
user/jit            analysis/base user/space bpf/hotspot.h
user/unwind         analysis/base analysis/symbols bpf loaders user/space user/jit
user/counters       analysis/base loaders
user/probe          user/preload/heap_ring.h user/api/collector_call.h user/api/mark.h user/unwind/insn.h analysis/base analysis/experiment analysis/symbols bpf/place.h loaders user/space
user/ctl            analysis/base
user/api            user/preload/own_call.h user/preload/raw_call.h
user/record         user/preload/heap_ring.h user/preload/own_call.h user/api/collector_call.h user/api/mark.h user/ctl analysis/base analysis/experiment analysis/symbols loaders user/space user/counters user/probe user/unwind user/jit bpf/code.h bpf/command.h bpf/er_event.h bpf/frame.h bpf/hotspot.h bpf/snap.h
user/preload        user/api/usdt.h analysis/experiment/packet.h analysis/symbols bpf user/unwind
user/options        analysis/base user/ctl user/record user/space user/counters user/probe loaders
user/collect        analysis/base user/options user/record loaders
kernel_er           analysis/base user/ctl user/options user/record loaders
END
while read -r folder allowed; do
	[ -d "$top/$folder" ] || { not_ok "$folder exists"; continue; }
	bad=$(cd "$top" && grep -n '^#include "' "$folder"/*.[ch] 2>/dev/null |
		awk -v allowed="$folder $allowed" '
			BEGIN { n = split(allowed, ok, " ") }
			{
				split($0, part, "\"")
				for (i = 1; i <= n; i++)
					if (index(part[2], ok[i] "/") == 1 || part[2] == ok[i]) next
				print
			}')
	[ -z "$bad" ] && ok "$folder" || not_ok "$folder" "$bad"
done <"$tmp/rows"

# tests/ may include anything.
rowless=$(cd "$top" && find . -name '.?*' -prune -o -path ./tests -prune -o -name '*.[ch]' -print |
	sed 's|^\./||; s|/[^/]*$||' | sort -u | awk 'NR == FNR { row[$1]; next } !($1 in row)' \
	"$tmp/rows" -)
[ -z "$rowless" ] && ok "every folder of sources has a row" ||
	not_ok "every folder of sources has a row" "$rowless"

outside=$(cd "$top" && grep -nE '^#include <(bpf|linux/bpf)' -r analysis tools)
[ -z "$outside" ] && ok "analysis needs no libbpf" || not_ok "analysis needs no libbpf" "$outside"

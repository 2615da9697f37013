# SPDX-License-Identifier: GPL-2.0-or-later
#
# For the scripts that run.sh runs in its virtual machine, by busybox; source it first. Each run of
# a script begins in an empty directory: one that fails is run again.
rm -rf /tmp/run
mkdir /tmp/run && cd /tmp/run || exit 1

# says NAME AWK-CONDITION DETAILS: the condition must hold. Busybox's awk has no power
# operator.
says()
{
	if awk "BEGIN { exit !($2) }"; then echo "ok $1"; else
		echo "not ok $1: $2"
		echo "$3" | tail -n 15 | sed 's/^/#   /'
	fi
}

# truth NAME FILE: a number that a workload printed.
truth() { awk -v n="$1" '$1 == n { s += $2 } END { print s + 0 }' "$2"; }

# seconds FUNCTION EXPERIMENT [FILTER]: a function's inclusive CPU time; 0 if it is not
# listed.
seconds()
{
	er_print -printmode , ${3:+-filters "$3"} -metrics i.totalcpu:name -functions "$2" 2>/dev/null |
		awk -F'","' -v n="$1\"" '{ sub(/^"/, "") } $2 == n { print $1; f = 1 } END { if (!f) print 0 }'
}

# wrong_threads EXPERIMENT: lists threads whose parts do not add up to their total, or that
# end after the recording.
wrong_threads()
{
	gzip -dc "$1/threads.xml.gz" | awk -v over="$(sed -n 's/.*event kind="exit" tstamp="\([0-9.]*\).*/\1/p' "$1/log.xml")" '
		function ns(n) { return match($0, " " n "=\"[0-9]*") ?
			substr($0, RSTART + length(n) + 3, RLENGTH - length(n) - 3) + 0 : 0 }
		/^<thread / { n++
			all = ns("run") + ns("tfault") + ns("dfault") + ns("kfault") + ns("lock") +
				ns("sleep") + ns("wait") + ns("stop")
			if (all != ns("end") - ns("begin")) print "not the sum: " $0
			if (ns("end") / 1e9 > over + 0.3) print "ends after " over ": " $0 }
		END { if (n < 20) print n + 0 " threads only" }'
}

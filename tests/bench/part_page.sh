# SPDX-License-Identifier: GPL-2.0-or-later
#
# The page: writing it, opening it in Debian's Chromium without a GPU, filtering, moving. Part page.
# Sourced by run.sh.
#
# shellcheck shell=bash

# need_browser: chromium, and playwright-core and speedscope in $work/npm. Says why if that is impossible.
need_browser()
{
	BROWSER=$(command -v chromium) || { echo "bench: page: chromium is not installed" >&2; return 1; }
	export BROWSER NODE_PATH=$work/npm/node_modules
	[ -d "$NODE_PATH" ] && return
	mkdir -p "$work/npm" && (cd "$work/npm" && HOME=$work npm install --no-audit --no-fund \
		--ignore-scripts --loglevel=error playwright-core@1.65.1 speedscope@1.25.0 >/dev/null 2>&1) ||
		{ echo "bench: page: npm cannot install playwright-core and speedscope" >&2; return 1; }
}

# event_bytes FILE: the bytes of an event after gzip, without base64; with the columns that are read later.
event_bytes()
{
	local size
	size=$(grep -E 'data-pack="(events|later)"' "$1" | wc -c)
	calc "$size * 3 / 4 / $2" %.2f
}

# time_page NAME: writes NAME.html of NAME.er as recorded; sets elapsed, and rss_mb of both processes.
time_page()
{
	local i
	rm -f page_write.*
	for i in $(seq "$rounds"); do
		"$measure" "page_write.$i" "$O/bin/er_export" --to page --page-size 0 -o "$1.html" "$1.er" >/dev/null 2>&1
	done
	elapsed=$(column 1 page_write.* | median)
	"$measure" -t page_memory "$O/bin/er_export" --to page --page-size 0 -o "$1.html" "$1.er" >/dev/null 2>&1
	rss_mb=$(calc "$(column 3 page_memory) / 1024" %.0f)
}

# open_page FILE SECONDS MB MS: rows for what the browser does, with the targets of a size.
open_page()
{
	local first decoded heap filter rest
	read -r first decoded heap filter rest < <(HOME=$work node "$top/tests/bench/page.js" "$1" "$rounds")
	row "… first picture; all decoded" "1 s; $2 s" "$first ms; $decoded ms" "$first <= 1000 && $decoded <= $2 * 1000"
	row "… heap" "$3 MB" "$heap MB" "$heap <= $3"
	row "… a filter, all views" "$4 ms" "$filter ms" "$filter <= $4"
}

# A tenth of the samples and no waits: another viewer, on the same machine.
open_speedscope()
{
	local ms
	"$bench/gen_experiment" page.er 100000 20000 30 3000 0 >/dev/null || return
	"$O/bin/er_export" --to speedscope -o page.json page.er
	ms=$(for _ in $(seq "$rounds"); do HOME=$work node "$top/tests/bench/speedscope.js" page.json; done | median)
	row "… speedscope, 100,000 of these samples, until it can be used" "" "$ms ms" 1
	rm -rf page.er page.json page.json.js
}

bench_page()
{
	local size per
	step "the page of 1,000,000 samples and 1,000,000 waits"
	"$bench/gen_experiment" page.er 1000000 20000 30 3000 1000000 >/dev/null || return
	time_page page
	row "er_export --to page, 1,000,000 samples and as many waits" "3 s, 500 MB" \
		"$(calc "$elapsed" %.3f) s, $rss_mb MB" "$elapsed <= 3 && $rss_mb <= 500"
	# Paths 14.3 bits, for a wait also system call 8.2, waker 10, path of the waker 14.3.
	per=$(event_bytes page.html 2000000)
	row "… events after gzip" "2.5 bytes each" "$per bytes; 3.8 of them are chosen at random" "$per <= 2.5"
	size=$(sed '/^<script type="application.gzip"/,$d' page.html | wc -c)
	row "… the application" "200 kB" "$(calc "$size / 1000" %.0f) kB" "$size <= 200000"
	need_browser && open_page page.html 2 100 100
	rm -rf page.er page.html
	need_browser && open_speedscope
}

# The largest page, as recorded. Its experiment has 1.2 GB.
bench_large_page()
{
	step "the page of 10,000,000 samples and 10,000,000 waits"
	"$bench/gen_experiment" page.er 10000000 20000 30 3000 10000000 >/dev/null || return
	time_page page
	row "the same of 10,000,000 samples and as many waits" "" "$(calc "$elapsed" %.1f) s, $rss_mb MB" 1
	need_browser && open_page page.html 10 500 500
	rm -rf page.er page.html
}

# Many lanes, and in the flame graph 12,000 boxes that are wide enough to be drawn.
bench_many_lanes()
{
	local first decoded heap filter frame frame95 zoom zoom95
	step "the timeline of 2,008 threads"
	"$bench/gen_experiment" page.er 200000 400 30 3000 200000 0 2000 >/dev/null || return
	time_page page
	need_browser || return
	read -r first decoded heap filter frame frame95 zoom zoom95 < <(HOME=$work node "$top/tests/bench/page.js" page.html "$rounds")
	row "a frame while the timeline of 2,008 threads moves" "33 ms, 95 of 100: 100 ms" "$frame ms, $frame95 ms" \
		"$frame <= 33 && $frame95 <= 100"
	row "a frame while a flame graph of 400 stacks of 30 frames is zoomed" "33 ms, 95 of 100: 100 ms" "$zoom ms, $zoom95 ms" \
		"$zoom <= 33 && $zoom95 <= 100"
	rm -rf page.er page.html
}

# What real events take: nothing in them is chosen at random, but their times and lengths have many digits.
bench_real_page()
{
	local n per
	step "the page of a recording"
	mixed_load
	"$O/bin/er_kernel" -p hi -t 10 -o page.er >/dev/null 2>&1
	stop_jobs
	time_page page
	n=$(node "$top/tests/bench/page.js" --events page.html)
	per=$(event_bytes page.html "$n")
	row "events of a recording of a mixed load, after gzip" "2.5 bytes each" "$per bytes, of $n events" "$per <= 2.5"
	rm -rf page.er page.html
}
section "The page" page large_page many_lanes real_page

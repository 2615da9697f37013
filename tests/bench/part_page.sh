# SPDX-License-Identifier: GPL-2.0-or-later
#
# The page: writing it, opening it in Debian's Chromium without a GPU, filtering, moving. Part page.
# Sourced by run.sh.
#
# shellcheck shell=bash

# need_browser: chromium, and playwright-core in $work/npm. Says why if that is impossible.
need_browser()
{
	BROWSER=$(command -v chromium) || { echo "bench: page: chromium is not installed" >&2; return 1; }
	export BROWSER NODE_PATH=$work/npm/node_modules
	[ -d "$NODE_PATH" ] && return
	mkdir -p "$work/npm" && (cd "$work/npm" && HOME=$work npm install --no-audit --no-fund \
		--ignore-scripts --loglevel=error playwright-core@1.65.1 >/dev/null 2>&1) ||
		{ echo "bench: page: npm cannot install playwright-core" >&2; return 1; }
}

bench_page()
{
	local i size per first decoded heap filter frame frame95
	step "the page of 1,000,000 samples and 1,000,000 waits"
	"$bench/gen_experiment" page.er 1000000 20000 30 3000 1000000 >/dev/null || return
	for i in $(seq "$rounds"); do
		"$measure" "page_write.$i" "$O/bin/er_export" --to page -o page.html page.er >/dev/null 2>&1
	done
	elapsed=$(column 1 page_write.* | median)
	rss_mb=$(calc "$(column 3 page_write.* | sort -g | tail -n1) / 1024" %.0f)
	row "er_export --to page, 1,000,000 samples and as many waits" "3 s, 500 MB" \
		"$(calc "$elapsed" %.3f) s, $rss_mb MB" "$elapsed <= 3 && $rss_mb <= 500"
	size=$(grep 'data-pack="events"' page.html | wc -c)
	per=$(calc "$size * 3 / 4 / 2000000" %.2f)
	row "… events after gzip" "2.5 bytes each" "$per bytes (random stacks, wakers and system calls)" "$per <= 2.5"
	size=$(sed '/^<script type="application.gzip"/,$d' page.html | wc -c)
	row "… the application" "200 kB" "$(calc "$size / 1000" %.0f) kB" "$size <= 200000"
	need_browser || return
	read -r first decoded heap filter frame frame95 < <(HOME=$work node "$top/tests/bench/page.js" page.html "$rounds")
	row "… first picture; all decoded" "1 s; 2 s" "$first ms; $decoded ms" "$first <= 1000 && $decoded <= 2000"
	row "… heap" "100 MB" "$heap MB" "$heap <= 100"
	row "… a filter, all views" "100 ms" "$filter ms" "$filter <= 100"
	row "… a frame while the timeline of 1,008 threads moves" "33 ms, 95 of 100: 100 ms" "$frame ms, $frame95 ms" \
		"$frame <= 33 && $frame95 <= 100"
	rm -rf page.er page.html
}
section "The page" page

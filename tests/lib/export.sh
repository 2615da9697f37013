# SPDX-License-Identifier: GPL-2.0-or-later
#
# For tests of er_export's formats; source it after tools.sh.

# The unit of a format's times, in units of a second.
per_second=1000000000

# total METRIC OPTIONS…: er_print's <Total>: a time in the format's unit, anything else as it is.
# A count that can be shown as a time is "+METRIC". Nothing if the metric was not recorded.
total()
{
	local metric=$1
	case $metric in +*) ;; *) metric=.$metric ;; esac
	shift
	er_print -printmode json -metrics "e$metric" -limit 1 "$@" -functions 2>/dev/null |
		awk -F'[][,]' -v second="$per_second" '/"type":"seconds"/ { scale = second }
			/<Total>/ { for (i = 1; i <= NF; i++)
				if ($i ~ /"cells":/) printf "%.0f\n", $(i + 1) * (scale ? scale : 1) }'
}

# export_fixtures: the recordings that the tests of all formats use, in a new directory.
export_fixtures()
{
	fresh
	put waits.1.er w.er
	put sys.1.er s.er
	put states.1.er t.er
	put calls.1.er c.er
	put cut.1.er cut.er
	put hostile.1.er bad.er
}

# put_code NAME: a recording of code with lines, as golden tests have it; its source in made/src;
# cold.er, which has a function with a dot in its name; and counted.er, which has counters.
put_code()
{
	local source=$top/tests/fixtures/source

	gcc -shared -nostdlib -Wl,-z,noseparate-code,-Ttext=0x2000,--build-id=none,-Bsymbolic \
		-o work.so "$source/work.s" && mkdir made && "$O/tests/golden/make_code" made work.so &&
		mkdir made/src && cp "$source/work.c" "$source/mix.h" made/src/ && mv made/code.1.er "$1" && mv made/cold.1.er cold.er && mv made/counted.1.er counted.er || { not_ok "make_code"; exit 1; }
}

# need_page: skips the whole file unless a browser and node can show pages.
need_page()
{
	. "$top/tests/lib/npm.sh"
	BROWSER=$(command -v chromium) || skip_all "chromium is not installed"
	need_npm playwright-core@1.65.1
	export BROWSER test PATH
}

# to_page NAME…: write NAME.html of NAME.er.
to_page()
{
	local e
	for e; do
		check "$e: is written" er_export --to page -o "$e.html" "$e.er"
	done
}

# pack FILE KIND: the text of a pack of a page, which is its first section.
pack()
{
	node -e 'const fs = require("fs"), [file, kind] = process.argv.slice(1)
		const found = [...fs.readFileSync(file, "utf8").matchAll(`data-pack="${kind}">([^<]*)`)]
		const unpack = b => b.subarray(8, 8 + b.readUInt32LE(4)).toString()
		console.log(found.map(f => unpack(require("zlib").gunzipSync(Buffer.from(f[1], "base64")))).join("\n") || "none")' "$1" "$2"
}

# in_browser: run the steps in $tmp/steps.js (tests/lib/page.js). Chromium writes into HOME. The HOME
# of tests, /nonexistent, must not be created.
in_browser()
{
	HOME=$tmp/home node "$top/tests/lib/page.js" "$tmp/steps.js" || failures=1
}

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

# put_code NAME: a recording of code with lines, as golden tests have it; its source in made/src; and
# cold.er, which has a function with a dot in its name.
put_code()
{
	local source=$top/tests/fixtures/source

	gcc -shared -nostdlib -Wl,-z,noseparate-code,-Ttext=0x2000,--build-id=none,-Bsymbolic \
		-o work.so "$source/work.s" && mkdir made && "$O/tests/golden/make_code" made work.so &&
		mkdir made/src && cp "$source/work.c" "$source/mix.h" made/src/ && mv made/code.1.er "$1" && mv made/cold.1.er cold.er || { not_ok "make_code"; exit 1; }
}

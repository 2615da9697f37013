# SPDX-License-Identifier: GPL-2.0-or-later
#
# Writes docs/performance.md: the tables of a run, and the text that the page had before. Sourced by
# run.sh, which sets `rows` and `rounds`.
#
# shellcheck shell=bash

# page_text PAGE [TITLE]: what stands below this heading, and above the next one, without tables and
# without blank lines at its end. Without TITLE: what follows the paragraph that names the machine.
page_text()
{
	[ -f "$1" ] || return 0
	awk -v title="${2:+## $2}" '
		/^## / { here = $0 == title; if (!title) exit; next }
		!title && /gprofng [0-9.]*, [0-9-]*\.$/ { here = 1; next }
		!here || /^\|/ || /^Measured again on / || (/^$/ && !n) { next }
		{ lines[++n] = $0 }
		END {
			while (n && lines[n] == "") n--
			for (i = 1; i <= n; i++)
				if (lines[i] != "" || lines[i - 1] != "") print lines[i]
		}' "$1"
}

# put_text PAGE [TITLE]: this text as a paragraph of its own, if there is any.
put_text()
{
	local text

	text=$(page_text "$@")
	[ -z "$text" ] || printf '\n%s\n' "$text"
}

# What was measured on, and with what.
machine()
{
	echo "Linux $(uname -r), $(nproc) CPUs ($(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n1)),"
	echo "$(perf --version), gprofng $(gprofng --version | sed -n '1s/.* //p'), $(date +%F)."
}

# The rows, with the old page's text below the table of each section.
put_sections()
{
	local line title=

	for line in "${rows[@]}"; do
		case $line in
		"") ;;
		"## "*)
			[ -z "$title" ] || put_text "$1" "$title"
			title=${line#"## "}
			printf '\n%s\n\n' "$line"
			;;
		*) echo "$line" ;;
		esac
	done
	[ -z "$title" ] || put_text "$1" "$title"
}

# Sections of the old page that have no rows in this run, as parts that only PARTS runs.
put_others()
{
	local heading

	[ -f "$1" ] || return 0
	grep '^## ' "$1" | while read -r heading; do
		[[ $'\n'$(printf '%s\n' "${rows[@]}")$'\n' != *$'\n'"$heading"$'\n'* ]] || continue
		printf '\n%s\n' "$heading"
		put_text "$1" "${heading#"## "}"
	done
}

# report PAGE: the whole new page.
report()
{
	echo "# Performance"
	echo
	echo "Written by \`make bench\`. Programs that are compared run in turn within one run. A figure is the"
	echo "median of at least $rounds round$([ "$rounds" = 1 ] || echo s); the range in parentheses is their middle half."
	echo
	machine
	put_text "$1"
	put_sections "$1"
	put_others "$1"
}

# measured_rows TITLE: the rows of this run below this heading; nothing if it has none.
measured_rows()
{
	local line here=

	for line in "${rows[@]}"; do
		case $line in "## "*) here=; [ "$line" != "## $1" ] || here=1 ;; "") ;; *) [ -z "$here" ] || echo "$line" ;; esac
	done
}

# put_again TITLE TABLE: the section of a run that measured only some, which says when and where that was, because
# the head of the page is about the others.
put_again() { printf '## %s\n\nMeasured again on %s\n\n%s\n' "$1" "$(machine | paste -s -d ' ')" "$2"; }

# report_sections PAGE: the old page, with new tables in the sections that this run measured. Sections that it
# does not have come last.
report_sections()
{
	local line title new=

	{
		while IFS= read -r line; do
			case $line in
			"## "*)
				title=${line#"## "}
				new=$(measured_rows "$title")
				[ -z "$new" ] || { put_again "$title" "$new"; put_text "$1" "$title"; echo; }
				;;
			esac
			[ -n "$new" ] || printf '%s\n' "$line"
		done <"$1"
		for line in "${rows[@]}"; do
			case $line in "## "*) ;; *) continue ;; esac
			grep -qFx -- "$line" "$1" || { echo; put_again "${line#"## "}" "$(measured_rows "${line#"## "}")"; }
		done
	} | sed -e :a -e '/^\n*$/{$d;N;ba' -e '}'
}

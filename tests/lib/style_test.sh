#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Measurable rules of style: every file names its licence, a function fits a screen, a file
# has a limited size, a line has a limited width.
. "$(dirname "$0")/tap.sh"

# The aims are 60, 500 and 100. A line with a string may be longer, so that text is not
# split.
FUNCTION_LINES=60 FILE_LINES=550 COLUMNS_MAX=120 COLUMNS_TEXT=140

# none NAME: the case passes if standard input is empty.
none()
{
	found=$(cat)
	[ -z "$found" ] && ok "$1" || not_ok "$1" "$found"
}

# All files in the tree, also those unknown to git. Tables of the kernel's own names are
# left out.
cd "$top" || exit 1
find bpf loaders kernel_er user analysis tools tests -name '*.[ch]' >"$tmp/c"
find tools tests .ci -name '*.sh' >"$tmp/sh"
check_that "there are sources" "$(wc -l <"$tmp/c") > 300 && $(wc -l <"$tmp/sh") > 50"

# A function begins with its name in the first column and ends with a brace there.
functions()
{
	xargs awk -v most="$1" '
		FNR == 1 { name = "" }
		/^[A-Za-z_].*\(/ && !/;$/ { name = $0; first = FNR }
		/^}/ && name != "" {
			if (FNR - first >= most) print FILENAME ":" first ": " FNR - first + 1 " lines: " name
			name = ""
		}'
}

# columns MOST MOST-WITH-TEXT: lists lines that are too wide. A tab advances to the next
# multiple of 8; a character may have several bytes.
columns()
{
	xargs awk -v most="$1" -v text="$2" '
		!/\t/ && length($0) <= most { next }
		{
			n = 0
			line = $0
			gsub(/[\200-\277]/, "", line)
			while (i = index(line, "\t")) {
				n = int((n + i - 1) / 8 + 1) * 8
				line = substr(line, i + 1)
			}
			n += length(line)
			if (n > ($0 ~ /"/ ? text : most))
				print FILENAME ":" FNR ": " n " columns"
		}'
}

export LC_ALL=C
xargs grep -L 'SPDX-License-Identifier: GPL-2.0-or-later' <"$tmp/c" | none "C: licence"
xargs grep -L 'SPDX-License-Identifier: GPL-2.0-or-later' <"$tmp/sh" | none "sh: licence"
functions $FUNCTION_LINES <"$tmp/c" | none "functions below $FUNCTION_LINES lines"
xargs awk -v most=$FILE_LINES 'FNR == most + 1 { print FILENAME }' <"$tmp/c" |
	none "files of $FILE_LINES lines at most"
# guards: lists headers whose include guard does not end in the file's name, or is also another
# header's.
guards()
{
	xargs awk '
		function judge() {
			name = toupper(file)
			sub(/.*\//, "", name)
			gsub(/\./, "_", name)
			if (substr("_" guard, length(guard) + 1 - length(name)) != "_" name) print file ": guard \047" guard "\047"
			if (seen[guard]++ == 1) print guard ": a guard of two files"
		}
		FNR == 1 { if (file != "") judge(); file = FILENAME; guard = "" }
		guard == "" && /^#ifndef [A-Z0-9_]*_H$/ { guard = $2 }
		END { judge() }'
}
grep '\.h$' "$tmp/c" | grep -v ^tests/fixtures/source/ | guards | none "include guards have their file's name"
# begun: lists scripts that name a shell but are not executable, and the reverse.
begun()
{
	while read -r file; do
		read -r line <"$file"
		case $line in
		'#!'*) [ -x "$file" ] || echo "$file: cannot be run" ;;
		*) [ ! -x "$file" ] || echo "$file: names no shell" ;;
		esac
	done
}
begun <"$tmp/sh" | none "sh: what names its shell can be run"
columns $COLUMNS_MAX $COLUMNS_TEXT <"$tmp/c" | none "C: $COLUMNS_MAX columns at most"

# The checks above find what they should find.
mkdir "$tmp/x"
{ echo "static int f(void)"; yes "{" | head -n 70; echo "}"; printf '\t%093d\n' 0; } >"$tmp/x/long.c"
check_that "a long function is found" "$(echo "$tmp/x/long.c" | functions 60 | wc -l) == 1"
check_that "a wide line is found" "$(echo "$tmp/x/long.c" | columns 100 110 | wc -l) == 1 &&
	$(echo "$tmp/x/long.c" | columns 101 0 | wc -l) == 0"
printf '#!/bin/sh\n' >"$tmp/x/shell"
check_that "a script that cannot be run is found" "$(echo "$tmp/x/shell" | begun | wc -l) == 1"
printf '#ifndef X_OTHER_H\n' >"$tmp/x/one.h"
check_that "a guard of another name is found" "$(echo "$tmp/x/one.h" | guards | wc -l) == 1"
check_that "a guard of two files is found" \
	"$(printf '%s\n' "$tmp/x/one.h" "$tmp/x/one.h" | guards | grep -c 'two files') == 1"

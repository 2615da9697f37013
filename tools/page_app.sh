#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# page_app.sh FOLDER: writes the application of the page as arrays of C, with the SHA-256 of its
# script and of its style. The page's content security policy allows these two and nothing else.
# Modules are joined, without import lines and the word export. main.js comes last.
# minify leaves out comments and blanks, and shortens names within functions. The modules are in one function, so that
# it shortens their names, too.
set -eu
export LC_ALL=C
dir=$1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

command -v minify >/dev/null || { echo "page_app.sh: 'minify' is not installed: run 'make deps'" >&2; exit 1; }

others=$(find "$dir" -name '*.js' ! -name main.js | sort)
twice=$(sed -nE 's/^(export )?(async )?(function|const|let|class) ([A-Za-z0-9_]+).*/\4/p' $others "$dir/main.js" | sort | uniq -d)
[ -z "$twice" ] || { echo "page_app.sh: two modules have a name at their top:" $twice >&2; exit 1; }
{
	printf "'use strict';\n(() => {\n"
	sed -e '/^import /d' -e 's/^export //' $others "$dir/main.js"
	printf '})()\n'
} | minify --type=js >"$tmp/script"
minify --type=css "$dir/page.css" >"$tmp/style"
sed '/^<!-- SPDX/d' "$dir/page.html" >"$tmp/body"
if grep -inE '</script|<!--|</style' "$tmp/script" "$tmp/style" >&2; then
	echo "page_app.sh: the lines above would end their element of the page" >&2
	exit 1
fi

# array NAME FILE
array()
{
	printf 'static const unsigned char %s[] = {\n' "$1"
	od -An -v -tu1 "$2" | sed 's/ *\([0-9][0-9]*\)/\1,/g'
	printf '};\n'
}

for part in script style body; do
	array "page_$part" "$tmp/$part"
done
for part in script style; do
	printf 'static const unsigned char page_%s_sha[] = { %s };\n' "$part" \
		"$(sha256sum "$tmp/$part" | cut -c1-64 | sed 's/../0x&,/g')"
done

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What the pages speak of is there: files, and names of the code. "NAME" stands for any
# name; "inner" is the view that docs/howto-view.md makes up.
. "$(dirname "$0")/tap.sh"

cd "$top" || exit 1
folders='analysis|bpf|docs|kernel_er|loaders|tests|tools|user'
find ${folders:+$(echo $folders | tr '|' ' ')} Makefile -type f ! -name '*.md' >"$tmp/files"

# paths FILE…: with a folder in front, or a file's name between backquotes.
paths()
{
	{ grep -ohE "(^|[^A-Za-z0-9_./-])($folders)/[A-Za-z0-9_./*-]+" "$@" | sed 's/^[^a-z]//'
		grep -ohE '`[A-Za-z0-9_./*-]+\.(c|h|sh)`' "$@" | tr -d '`'
	} | sed 's/[.,]*$//' | grep -vE 'NAME|inner' | sort -u
}

# there PATH: a file, a folder, a pattern of some; a program by its source; a file's name alone.
there()
{
	for f in $1 $1.c $1.sh $1_selftest.c; do [ ! -e "$f" ] || return 0; done
	grep -qE "/$(printf %s "$1" | sed 's/[.]/\\./g; s/[*]/[^\/]*/g')\$" "$tmp/files"
}

missing_paths() { paths "$@" | while read -r p; do there "$p" || echo "$p"; done; }

# names FILE…: what stands between backquotes and can only be of the code.
names()
{
	grep -ohE '`[a-z][a-z0-9]*_[a-z0-9_]+(\(\))?`' "$@" | tr -d '`()' | sort -u
}

missing_names()
{
	names "$@" | while read -r n; do
		there "$n.c" || xargs grep -qw -- "$n" <"$tmp/files" || echo "$n"
	done
}

# none NAME: nothing comes from standard input.
none()
{
	found=$(cat)
	[ -z "$found" ] && ok "$1" || not_ok "$1" "$found"
}

# Arguments of commands as the manuals of others call them are no names of ours.
pages=$(ls README.md docs/*.md | grep -v requirements-status)
missing_paths $pages docs/requirements-status.md docs/man/* | none "files that the pages name"
missing_names $pages | none "names of the code in the pages"

# These checks see what they are for.
printf '`nothing.c`, docs/no-page.md and `tally.c`; `%s_name()`, `%s_other`, `experiment_open`\n' \
	no_such no_such >"$tmp/page.md" # (this file is one of those searched)
check_that "a missing file is found" "$(missing_paths "$tmp/page.md" | wc -l) == 2"
check_that "a missing name is found" "$(missing_names "$tmp/page.md" | wc -l) == 2"

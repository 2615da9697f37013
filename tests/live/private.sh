#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Only the owner can read an experiment; planted links are not followed.
. "$(dirname "$0")/../lib/live.sh"

umask 0
must_record p.er -F on -p high -t 1
check_that "the experiment has mode 0700" "$(stat -c %a p.er) == 700" "$(stat -c %a p.er)"
check_that "sub-experiments have mode 0700" "$(find p.er -type d ! -perm 0700 | wc -l) == 0" \
	"$(find p.er -type d ! -perm 0700 | head)"

mkdir shared victim && chmod 1777 shared
ln -s "$tmp/victim" shared/ktest.1.er
ln -s "$tmp/victim" shared/x.er
ln -s "$tmp/victim/made" shared/y.er
"$er_kernel" -d shared -t 0.3 >/dev/null 2>err
check_that "a planted ktest.1.er is passed over" \
	"$? == 0 && $(ls -A victim | wc -l) == 0 && $(ls -d shared/ktest.2.er | wc -l) == 1" "$(cat err)"
for name in x y; do
	"$er_kernel" -d shared -o $name.er -t 0.3 >/dev/null 2>err
	check_that "a planted $name.er is refused" \
		"$? != 0 && $(ls -A victim | wc -l) == 0 && $(wc -l <err) == 1" "$(cat err)"
done
echo precious >precious
ln -s "$tmp/precious" shared/g.erg
"$er_kernel" -d shared -g g.erg -t 0.3 >/dev/null 2>err
check_that "a planted group is not written through" "$(cat precious | wc -l) == 1" "$(cat precious err)"

# Without standard error, messages must not go into the first file that was opened.
"$er_kernel" -o closed.er -v -t 0.3 2>&-
check_that "messages do not land in an experiment" \
	"$? == 0 && $(grep -rl 'Creating experiment' closed.er | wc -l) == 0" "$(ls closed.er)"

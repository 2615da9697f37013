#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# er_export prints every record, as text that is safe on a terminal.
. "$(dirname "$0")/../lib/tools.sh"

fresh
put sys.1.er s.er
put hostile.1.er h.er
printf '#analyzer experiment group\ns.er\nh.er\n' >g.erg
er_export s.er >out 2>err
check_that "er_export exits with status 0" "$? == 0" "$(cat err)"
check_that "er_export has founder and descendant" "$(grep -c '^experiment ' out) == 2"
check_that "er_export has every map record" "$(grep -c '^map ' out) == $(cat s.er/map.xml s.er/*/map.xml | grep -c '<event')"
check_that "er_export has every event" "$(grep -c '^event ' out) == $(cat s.er/log.xml s.er/*/log.xml | grep -c '<event')"
check_that "er_export has every kernel symbol" "$(grep -c '^ksym ' out) == $(cat s.er/kallmodsyms s.er/*/kallmodsyms | wc -l)"
check_that "er_export has packets with their fields" "$(grep -c '^packet profile .*TSTAMP=[0-9]*.*MSTATE=' out) == \
	$(grep -c '^packet ' out) && $(grep -c '^packet ' out) > 0"
check_that "er_export has stacks" "$(grep -c '^stack uid=' out) > 0"
check_that "ticks add up to what er_print says" \
	"$(sed -n 's/^packet.*NTICK=\([0-9]*\).*/\1/p' out | awk '{ n += $1 } END { print n }') > 0"
er_export h.er >out
check_that "er_export prints no control characters" "$(grep -c '[[:cntrl:]]' out) == 0" "$(cat -v out | head)"
check_that "er_export takes a group" "$(er_export g.erg | grep -c '^experiment ') == 3"
refuses "missing" "No such file" er_export gone.er
refuses "a full disk" "No space left" sh -c 'er_export s.er >/dev/full'
refuses "unknown option" "no such option" er_export -x s.er
check "-V" er_export -V

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# check.sh itself, run on stub tests: one fails once and then passes, one fails twice, one
# hangs, one prints nothing. Also checks the end of the log.
. "$(dirname "$0")/tap.sh"

mkdir -p tree/tests/lib tree/tests/live tree/tools
cp "$top/tests/lib/check.sh" "$top/tests/lib/env.sh" tree/tests/lib/
printf '#!/bin/sh\n' >tree/tools/install-deps.sh
printf 'all tests:\n\t@:\n' >tree/Makefile
script() { { echo '#!/bin/sh'; cat; } >"tree/tests/live/$1.sh"; }
script good <<END
echo "ok good: one"
END
script flaky <<END
[ ! -e "$tmp/once" ] || { echo "ok flaky: now"; exit; }
touch "$tmp/once"
echo "not ok flaky: at first"
exit 1
END
script bad <<END
echo "not ok bad: always"
echo "#   seen: 42"
exit 1
END
script hangs <<END
# Time limit: 1 s
echo "ok hangs: begins"
sleep 30
END
script mute </dev/null
script absent <<END
echo "skip absent: no such thing"
END
script vm_old <<END
echo "skip vm_old: no machine"
END
script waits <<END
echo "ok waits: one"
END
chmod +x tree/tests/lib/check.sh tree/tools/install-deps.sh tree/tests/live/*.sh

TMPDIR=$tmp tree/tests/lib/check.sh live >out 2>&1
check_that "fails" "$? == 1" "$(cat out)"
check_that "counts" "$(tail -n 1 out | grep -c '^5 passed, 3 failed, 2 skipped$') == 1" "$(cat out)"
check_that "a second result counts" "$(grep -c '^ok flaky: now' out) == 1" "$(cat out)"
check_that "the first result is shown, too" "$(grep -c '^again: not ok flaky: at first' out) == 1" "$(cat out)"
check_that "a test that hangs is killed" "$(grep -c '^not ok hangs: killed at its time limit of 2 s' out) == 1" "$(cat out)"
check_that "a test that prints nothing has failed" "$(grep -c '^not ok mute: no case reported' out) == 1" "$(cat out)"
sed -n '/^Failed:/,$p' out >end
for what in 'not ok bad: always' 'seen: 42' 'not ok hangs' 'not ok mute'; do
	check "the summary shows: $what" grep -q "$what" end
done

rm tree/tests/live/bad.sh tree/tests/live/hangs.sh tree/tests/live/mute.sh once
TMPDIR=$tmp tree/tests/lib/check.sh live >out 2>&1
check_that "a test that passes when run again has passed" \
	"$? == 0 && $(tail -n 1 out | grep -c '^4 passed, 0 failed, 2 skipped$') == 1" "$(cat out)"
CHECK_MINUTES=0 TMPDIR=$tmp tree/tests/lib/check.sh live >out 2>&1
check_that "when the total time is over, tests are skipped with the reason" \
	"$(grep -c '^skip .*minutes of make check are over' out) == 5" "$(cat out)"
check "the summary names the skipped tests" grep -q '^Not done because time ran out (CHECK_MINUTES): absent flaky good waits vm_old$' out
CHECK_MINUTES=1 AGAIN_MINUTES=1 TMPDIR=$tmp tree/tests/lib/check.sh live >out 2>&1
check_that "the last minutes are for tests that run again" \
	"$(grep -c '^skip .*minutes of make check are over' out) == 5" "$(cat out)"

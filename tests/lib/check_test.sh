#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# check.sh itself, run on stub tests: one fails once and then passes, one fails twice, one
# hangs, one prints nothing. Also checks the end of the log, and which failures run again.
. "$(dirname "$0")/tap.sh"

mkdir -p tree/tests/lib tree/tests/live tree/tools
cp "$top/tests/lib/check.sh" "$top/tests/lib/attempt.sh" "$top/tests/lib/env.sh" tree/tests/lib/
printf '#!/bin/sh\n' >tree/tools/install-deps.sh
printf 'all tests fuzz-programs:\n\t@:\n' >tree/Makefile
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
# The two parts say theirs in any order.
late=$(sed -n 's/^Not done because time ran out (CHECK_MINUTES): //p' out | tr ' ' '\n' | sort | paste -s -d ' ')
check_that "the summary names the skipped tests" "\"$late\" == \"absent flaky good vm_old waits\"" "$(cat out)"
CHECK_MINUTES=1 AGAIN_MINUTES=1 TMPDIR=$tmp tree/tests/lib/check.sh live >out 2>&1
check_that "while no test has failed, the last minutes are for first runs, too" \
	"$? == 0 && $(tail -n 1 out | grep -c '^4 passed, 0 failed, 2 skipped$') == 1" "$(cat out)"
rm once
CHECK_MINUTES=1 AGAIN_MINUTES=1 TMPDIR=$tmp tree/tests/lib/check.sh live >out 2>&1
check_that "then they are for tests that run again" \
	"$? == 0 && $(grep -cE '^skip (good|waits): .*minutes of make check are over' out) == 2 &&
	$(grep -c '^ok flaky: now' out) == 1" "$(cat out)"

# The tests that are not live. once PATH LATER: a program that prints standard input and fails;
# from then on it prints LATER.
once()
{
	mkdir -p "tree/${1%/*}"
	cat >"tree/$1.first"
	cat >"tree/$1" <<-END
	#!/bin/sh
	[ -e \$0.first ] || { echo "$2"; exit; }
	cat \$0.first
	rm \$0.first
	exit 1
	END
	chmod +x "tree/$1"
}
tap='1..1
ok 1 - case'
failed='1..1
not ok 1 - case'
once .output/build/tests/unit/test_flaky "$tap" <<END
$failed
END
once .output/build/tests/unit/test_bad "$failed" <<END
$failed
END
once .output/build/tests/unit/test_early "$tap" <<END
1..1
END
once .output/san/tests/unit/test_leaves "$tap" <<END
$failed
==1==ERROR: LeakSanitizer: detected memory leaks
SUMMARY: AddressSanitizer: 24 byte(s) leaked in 1 allocation(s).
END
once .output/san/tests/unit/test_leaks "$tap" <<END
$tap
==1==ERROR: LeakSanitizer: detected memory leaks
SUMMARY: AddressSanitizer: 24 byte(s) leaked in 1 allocation(s).
END
once .output/san/tests/unit/test_writes "$tap" <<END
1..1
==1==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x10
END
once .output/san/tests/unit/test_shifts "$tap" <<END
$failed
user/base/x.c:7:3: runtime error: shift exponent 64 is too large
END
once tests/lib/lib_test.sh "ok lib_test: one" <<END
not ok lib_test: one
END
once tests/tools/tool.sh "ok tool: one" <<END
not ok tool: one
#   the last lines of what a program wrote
#   SUMMARY: AddressSanitizer: heap-use-after-free x.c:1 in main
END
once tests/golden/run.sh "ok golden: one" <<END
not ok golden: one
END
once .output/san/tests/fuzz/fuzz_all "" <<END
late
END
once tests/fuzz/run.sh "ok fuzz: xml" <<END
not ok fuzz: xml
#   ==1== ERROR: libFuzzer: deadly signal
END
TMPDIR=$tmp tree/tests/lib/check.sh unit >out 2>&1
check_that "counts tests that are not live" "$(tail -n 1 out | grep -c '^9 passed, 6 failed, 0 skipped$') == 1" "$(cat out)"
again=$(sed -n 's/^Run again: //p' out | sed 's/, /\n/g' | sort | tr '\n' ' ')
check_that "tests of every kind run again" \
	"\"$again\" == \"fuzz: fuzz_all golden lib_test san: test_leaves unit: test_bad unit: test_early unit: test_flaky \"" "$again"
check_that "the first results are shown" "$(grep -c '^again: not ok' out) == 7" "$(cat out)"
sed -n '/^Failed:/,$p' out >end
for what in 'unit: test_bad: case' 'san: test_leaks: ended early, status 1' 'san: test_writes: ended early, status 1' \
	'san: test_shifts: case' 'tool: one' 'fuzz: xml'; do
	check "counts: $what" grep -qFx "  not ok $what" end
done
check "leaks of a case that failed do not count" grep -qFx 'ok san: test_leaves: case' out

once .output/build/tests/unit/test_flaky "$tap" <<END
$failed
END
CHECK_MINUTES=0 AGAIN_MINUTES=-1 TMPDIR=$tmp tree/tests/lib/check.sh unit >out 2>&1
check_that "without time to run again the first result counts" \
	"$? == 1 && $(grep -cFx 'not ok unit: test_flaky: case' out) == 1" "$(cat out)"

# Tests each of which passes only while the other runs. meets PATH OTHER
rm -rf tree/tests/tools tree/.output tree/tests/golden tree/tests/lib/lib_test.sh* tree/tests/live
meets()
{
	local name=${1##*/}
	mkdir -p "tree/${1%/*}"
	cat >"tree/$1" <<-END
	#!/bin/sh
	touch "$tmp/${name%.sh}"
	for i in \$(seq 100); do [ -e "$tmp/$2" ] && echo "ok ${name%.sh}: met" && exit; sleep 0.1; done
	echo "not ok ${name%.sh}: alone"
	END
	chmod +x "tree/$1"
}
if [ "$(nproc)" -gt 1 ]; then
	meets tests/tools/here.sh there
	meets tests/tools/there.sh here
	TMPDIR=$tmp tree/tests/lib/check.sh unit >out 2>&1
	check_that "tests that are not live run side by side" "$? == 0 && $(grep -c ': met$' out) == 2" "$(cat out)"
	check_that "their cases are said in order" "$(grep ': met$' out | head -n 1 | grep -c '^ok here:') == 1" "$(cat out)"
	rm -r tree/tests/tools
else
	skip "tests that are not live run side by side" "there is one CPU"
fi
meets tests/live/recording.sh vm_emulated
meets tests/live/vm_emulated.sh recording
TMPDIR=$tmp tree/tests/lib/check.sh live >out 2>&1
check_that "what only computes runs beside recordings" "$? == 0 && $(grep -c ': met$' out) == 2" "$(cat out)"

# A check that is ended ends both parts. The script writes its scheduling class and its process.
cat >tree/tests/live/vm_emulated.sh <<END
#!/bin/sh
chrt -p \$\$ >"$tmp/class"
echo \$\$ >"$tmp/pid"
exec sleep 100
END
printf '#!/bin/sh\nuntil [ -s "%s/pid" ]; do sleep 0.1; done; kill -TERM "$PARENT"\n' "$tmp" >tree/tests/live/recording.sh
TMPDIR=$tmp sh -c 'PARENT=$$ exec tree/tests/lib/check.sh live' >out 2>&1
check "what only computes takes no CPU from recordings" grep -q SCHED_IDLE class
check_that "a check that is ended leaves nothing running" "$(ps -o pid= -p "$(cat pid)" | wc -l) == 0" "$(ps -p "$(cat pid)")"

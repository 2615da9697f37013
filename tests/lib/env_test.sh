#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# env.sh and tap.sh: neither a user's settings nor the checkout's path changes results.
. "$(dirname "$0")/tap.sh"

mkdir -p "a b/tests/lib" "a b/tests/live" "a b/out" home "t m p"
cp "$top"/tests/lib/env.sh "$top"/tests/lib/tap.sh "a b/tests/lib/"
echo "printmode ," >home/.er.rc
cat >"a b/tests/live/one.sh" <<'END_OF_TEST'
. "$(dirname "$0")/../lib/tap.sh"
check "here is $(pwd)" [ -d "$top/tests/live" ]
check "O is $O" [ -d "$O" ]
check "mode" [ "$(umask)" = 0022 ]
check "home $HOME" [ ! -e "$HOME" ]
check "numbers" [ "$(printf '%.1f' 1.5)" = 1.5 ]
check "day $(date -d @0 +%H)" [ "$(date -d @0 +%H)" = 00 ]
check "columns" [ -z "${COLUMNS:-}${CDPATH:-}${DEBUGINFOD_URLS:-}${NO_COLOR:-}" ]
check "a program runs" sh -c 'printf "#!/bin/sh\n" >x && chmod +x x && ./x'
END_OF_TEST
(umask 077 && cd "a b" && env CDPATH=. COLUMNS=40 NO_COLOR=1 DEBUGINFOD_URLS=http://x HOME="$tmp/home" \
	TZ=Asia/Kolkata LC_ALL=de_DE.UTF-8 TMPDIR="$tmp/t m p" O=out sh tests/live/one.sh) >out 2>&1
check_that "tests have their own environment" "$(grep -c '^ok one: ' out) == 8 && $(wc -l <out) == 8" "$(cat out)"
check_that "tests remove their directories" "$(ls "t m p" | wc -l) == 0" "$(ls "t m p")"

mkdir closed && : >file
check_that "a directory where programs cannot run is skipped" \
	"\"$(usable_dir /proc "$tmp/file" "$tmp/closed" "$tmp")\" == \"$tmp/closed\""

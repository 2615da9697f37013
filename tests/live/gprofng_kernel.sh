#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# After installation, `gprofng collect kernel` finds and runs our recorder.
. "$(dirname "$0")/../lib/live.sh"

command -v gprofng >/dev/null || skip_all "gprofng is not installed"
check "make install" make -C "$top" --no-print-directory install O="${O#"$top"/}" \
	DESTDIR="$tmp/root" PREFIX=/usr
for f in bin/er_kernel bin/er_print share/man/man1/er_kernel.1 share/man/man1/er_print.1; do
	check "installs $f" test -s "root/usr/$f"
done
check "make install succeeds when installed already" make -C "$top" --no-print-directory install O="${O#"$top"/}" \
	DESTDIR="$tmp/root" PREFIX=/usr

# gprofng looks in its own directory: give it one that holds both.
cp "$(readlink -f "$(command -v gprofng)")" root/usr/bin/gprofng
cp "$(readlink -f "$(command -v gp-display-text)")" root/usr/bin/gp-display-text
root/usr/bin/gprofng collect kernel -o k.er -p high -t 1 >out 2>&1
check_that "gprofng collect kernel" "$? == 0" "$(cat out)"
check "gprofng collect kernel makes an experiment" "$er_print" -functions k.er
check "gprofng shows the experiment of gprofng collect kernel" opens_in_gprofng k.er

rm root/usr/bin/gp-collect-kernel && echo foreign >root/usr/bin/gp-collect-kernel
"$top/tools/install.sh" "$O" "$tmp/root" /usr >out 2>&1
check_that "a foreign gp-collect-kernel is not replaced" "$(grep -c foreign root/usr/bin/gp-collect-kernel) == 1" "$(cat out)"

check "make uninstall" make -C "$top" --no-print-directory uninstall O="${O#"$top"/}" \
	DESTDIR="$tmp/root" PREFIX=/usr
check_that "make uninstall leaves what is not ours, and nothing else" \
	"\"$(cd root && find . ! -type d | sort | tr '\n' ' ')\" == \"./usr/bin/gp-collect-kernel ./usr/bin/gp-display-text ./usr/bin/gprofng \"" \
	"$(find root)"

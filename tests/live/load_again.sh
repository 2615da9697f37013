#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The kernel's EAGAIN, which a pending signal causes while it verifies a program, does not end a recording
# unless it does not stop.
. "$(dirname "$0")/../lib/live.sh"

# Lets the first $EAGAINS loads of programs fail. libbpf tries each up to ten times.
cat >again.c <<'END'
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PROG_LOAD = 5 };

long syscall(long number, ...)
{
	static int left = -1;
	register long r10 __asm__("r10"), r8 __asm__("r8"), r9 __asm__("r9");
	long a[6], ret;
	va_list ap;

	va_start(ap, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	if (left < 0)
		left = atoi(getenv("EAGAINS"));
	if (number == SYS_bpf && (int)a[0] == PROG_LOAD && left > 0) {
		left--;
		errno = EAGAIN;
		return -1;
	}
	r10 = a[3], r8 = a[4], r9 = a[5];
	__asm__ volatile("syscall" : "=a"(ret) : "a"(number), "D"(a[0]), "S"(a[1]), "d"(a[2]), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	if (ret >= 0 || ret < -4095)
		return ret;
	errno = -ret;
	return -1;
}
END
gcc -O1 -shared -fPIC -o again.so again.c 2>err || skip_all "no C compiler: $(head -n 1 err)"

again() { env EAGAINS="$1" LD_PRELOAD="$PWD/again.so" "$er_kernel" -o a.er -q 0 -t 0.2 -A off >out 2>err; }

again 15
check_that "a recording begins at the second try" "$? == 0" "$(cat err)"
"$er_print" -header a.er >header 2>&1
check_that "and it is whole" "$(grep -c '\*\*\*' header) == 0" "$(cat header)"
rm -rf a.er
again 1000000
check_that "a kernel that always says so ends it, with a sentence" \
	"$? != 0 && $(wc -l <err) == 1 && $(grep -c 'Resource temporarily unavailable' err) == 1" "$(cat err)"
check_that "and no experiment is left" "$([ ! -e a.er ]; echo $?) == 0" "$(ls)"

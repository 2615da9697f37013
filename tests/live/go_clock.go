// SPDX-License-Identifier: GPL-2.0-or-later

// The clock of the Go programs that know their own times.
package main

import (
	"syscall"
	"unsafe"
)

const clockThreadCPU = 3

// The CPU seconds of this thread so far. getrusage lags by up to a tick.
func cpu() float64 {
	var t syscall.Timespec
	syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clockThreadCPU, uintptr(unsafe.Pointer(&t)), 0)
	return float64(t.Nano()) / 1e9
}

// SPDX-License-Identifier: GPL-2.0-or-later

// A Go program that knows its goroutines. go_routines SECONDS: goroutines compute on threads of their own, one
// changes its thread again and again, and one waits in a system call. For each it prints a line: what it did, a
// tab, its number as runtime.Stack has it, a tab, its seconds.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

var (
	seconds float64
	group   sync.WaitGroup
)

// The number of this goroutine: the stack begins with "goroutine N [running]:".
func number() string {
	b := make([]byte, 64)
	return strings.Fields(string(b[:runtime.Stack(b, false)]))[1]
}

//go:noinline
func work(end float64) int {
	sum := 0
	for cpu() < end {
		for i := 0; i < 200000; i++ {
			sum += i ^ sum>>1
		}
	}
	return sum
}

func say(what string, took float64) {
	fmt.Printf("%s\t%s\t%.6f\n", what, number(), took)
	group.Done()
}

func computes(share float64) {
	runtime.LockOSThread()
	start := cpu()
	work(start + share*seconds)
	say("computes", cpu()-start)
}

// Its parts are on whatever thread there is.
func moves() {
	total := 0.0
	for total < seconds {
		runtime.LockOSThread()
		start := cpu()
		work(start + seconds/20)
		total += cpu() - start
		runtime.UnlockOSThread()
		runtime.Gosched()
		time.Sleep(time.Millisecond)
	}
	say("moves", total)
}

// The runtime's code on the thread's own stack is the goroutine's, too.
func asks() {
	runtime.LockOSThread()
	b := make([]byte, 4096)
	start := cpu()
	for cpu() < start+seconds {
		for i := 0; i < 100; i++ {
			runtime.Stack(b, false)
		}
	}
	say("asks", cpu()-start)
}

// nanosleep and not time.Sleep, which the runtime does itself. The time for which the goroutine then waits for
// a thread is no thread's, so the time is what it asked for.
func waits() {
	const times = 20
	for i := 0; i < times; i++ {
		t := syscall.NsecToTimespec(int64(seconds / 10 * 1e9))
		syscall.Nanosleep(&t, nil)
	}
	say("waits", times*seconds/10)
}

func main() {
	seconds, _ = strconv.ParseFloat(os.Args[1], 64)
	group.Add(6)
	for i := 1; i <= 3; i++ {
		go computes(float64(i))
	}
	go moves()
	go asks()
	go waits()
	group.Wait()
}

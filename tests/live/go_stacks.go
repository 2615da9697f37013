// SPDX-License-Identifier: GPL-2.0-or-later

// A Go program that knows its own stacks. go_stacks SECONDS runs each task for so much of its
// thread's CPU time, and prints a line for each: its name, a tab, the CPU seconds. Before it spins it
// prints its stack.
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
	sink    int
)

// Print the caller's stack as Go itself knows it: a line "stack<TAB>main.main;main.timed;…".
//
//go:noinline
func report() {
	b := make([]byte, 1<<16)
	chain := ""
	for i, line := range strings.Split(string(b[:runtime.Stack(b, false)]), "\n") {
		if at := strings.LastIndex(line, "("); i > 1 && at > 0 && strings.HasPrefix(line, "main.") &&
			line[:at] != "main.report" {
			chain = ";" + line[:at] + chain
		}
	}
	fmt.Printf("stack\t%s\n", strings.TrimPrefix(chain, ";"))
}

// Inlined into its callers.
func mix(x int) int { return x*x + x>>3 }

// Inlined, with mix in it.
func stir(x int) int { return mix(x) + mix(x+1) }

//go:noinline
func spin(end float64) {
	report()
	for cpu() < end {
		for i := 0; i < 200000; i++ {
			sink += i ^ sink>>1
		}
	}
}

//go:noinline
func leafPlain(end float64) { spin(end) }

//go:noinline
func recurse(depth int, end float64) {
	if depth > 1 {
		recurse(depth-1, end)
	} else {
		spin(end)
	}
	sink++
}

//go:noinline
func leafInlined(end float64) {
	for cpu() < end {
		for i := 0; i < 200000; i++ {
			sink += stir(sink)
		}
	}
}

type worker struct{ n int }

type runner interface{ run(end float64) }

func (w *worker) run(end float64) { spin(end); w.n++ }

//go:noinline
func leafMethod(r runner, end float64) { r.run(end); sink++ }

//go:noinline
func leafClosure(end float64) {
	f := func(n int) { spin(end); sink += n }
	g := func(f func(int)) { f(3); sink++ }
	g(f)
}

//go:noinline
func leafDefer(end float64) {
	defer func() { recover(); spin(end) }()
	panic("back")
}

//go:noinline
func leafSyscall(end float64) {
	var p [2]int
	b := make([]byte, 512)
	syscall.Pipe(p[:])
	for cpu() < end {
		for i := 0; i < 200; i++ {
			syscall.Write(p[1], b)
			syscall.Read(p[0], b)
		}
	}
	syscall.Close(p[0])
	syscall.Close(p[1])
}

//go:noinline
func leafGoroutine(end float64) {
	var group sync.WaitGroup
	group.Add(1)
	go func() {
		defer group.Done()
		// Its thread is another one.
		runtime.LockOSThread()
		start := cpu()
		inGoroutine(start + seconds)
		fmt.Printf("goroutine\t%.6f\n", cpu()-start)
	}()
	group.Wait()
}

//go:noinline
func inGoroutine(end float64) { spin(end) }

// The next three run code of the runtime on the thread's own stack.

//go:noinline
func leafClock(end float64) {
	for cpu() < end {
		for i := 0; i < 10000; i++ {
			sink += time.Now().Nanosecond()
		}
	}
}

//go:noinline
func leafSystem(end float64) {
	b := make([]byte, 4096)
	for cpu() < end {
		for i := 0; i < 100; i++ {
			sink += runtime.Stack(b, false)
		}
	}
}

//go:noinline
func deepen(depth int) int {
	var a [64]int
	a[depth&63] = depth
	if depth > 1 {
		return deepen(depth-1) + a[(depth+1)&63]
	}
	return a[1]
}

// Each goroutine begins with a small stack.
//
//go:noinline
func leafGrow() {
	total := 0.0
	done := make(chan bool)
	for total < seconds {
		go func() {
			runtime.LockOSThread()
			start := cpu()
			sink += deepen(300)
			total += cpu() - start
			runtime.UnlockOSThread()
			done <- true
		}()
		<-done
	}
	fmt.Printf("grow\t%.6f\n", total)
}

func timed(name string, f func(end float64)) {
	start := cpu()
	f(start + seconds)
	fmt.Printf("%s\t%.6f\n", name, cpu()-start)
}

func main() {
	runtime.LockOSThread()
	seconds, _ = strconv.ParseFloat(os.Args[1], 64)
	timed("plain", leafPlain)
	timed("recurse", func(end float64) { recurse(50, end) })
	timed("inlined", leafInlined)
	timed("method", func(end float64) { leafMethod(&worker{}, end) })
	timed("closure", leafClosure)
	timed("defer", leafDefer)
	timed("syscall", leafSyscall)
	timed("clock", leafClock)
	timed("system", leafSystem)
	leafGoroutine(0)
	leafGrow()
}

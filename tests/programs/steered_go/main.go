// A program whose throughput has its peak below its largest size: its goroutines spin for a lock.
//
// A goroutine that spins cannot give way. Once there are more threads than CPUs the kernel takes the
// CPU away from the one that holds the lock, and the others spin until it comes back.
//
//	steered_go LARGEST PARALLEL_NS LOCKED_NS    works until its standard input ends
package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"sync/atomic"
	"time"

	tidscope "github.com/tidscope/tidscope/agents/go"
)

var locked atomic.Int32

func number(at int) int {
	value, err := strconv.Atoi(os.Args[at])
	if err != nil || value < 1 {
		fmt.Fprintln(os.Stderr, "want a number from 1 on, not", os.Args[at])
		os.Exit(2)
	}
	return value
}

// spin works for about so long.
func spin(rounds int) uint64 {
	sink := uint64(rounds)
	for i := 0; i < rounds; i++ {
		sink = sink*2862933555777941757 + 3037000493
	}
	return sink
}

var sink atomic.Uint64

func work(parallel, serial int) {
	for {
		done := spin(parallel)
		for !locked.CompareAndSwap(0, 1) {
		}
		done += spin(serial)
		locked.Store(0)
		sink.Store(done)
		tidscope.Ops.Add(1)
	}
}

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: steered_go LARGEST PARALLEL_NS LOCKED_NS")
		os.Exit(2)
	}
	largest := number(1)
	runtime.GOMAXPROCS(largest)
	began := time.Now()
	const rounds = 20_000_000
	sink.Store(spin(rounds))
	perNs := float64(rounds) / float64(time.Since(began).Nanoseconds())
	agent, err := tidscope.Start(tidscope.Bounds(1, largest))
	if err != nil {
		fmt.Println("failed:", err)
		os.Exit(1)
	}
	for i := 0; i < largest; i++ {
		go work(int(float64(number(2))*perNs), int(float64(number(3))*perNs))
	}
	fmt.Println("ready", agent.Path)
	io.Copy(io.Discard, os.Stdin)
	agent.Close()
}

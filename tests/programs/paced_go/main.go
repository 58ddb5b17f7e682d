// A program whose throughput at each size is known: it does not depend on the machine.
//
// Each worker up to BEST adds as much as the first; each one more costs all of them a share PENALTY.
// The operations that are due by the clock are counted, so that a late wake-up changes nothing.
//
//	paced_go LARGEST BEST PENALTY    works until its standard input ends
package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"time"

	tidscope "github.com/tidscope/tidscope/agents/go"
)

// perWorker is what a worker does in a second.
const perWorker = 1000

func number(at int) float64 {
	value, err := strconv.ParseFloat(os.Args[at], 64)
	if err != nil || value < 0 {
		fmt.Fprintln(os.Stderr, "want a number from 0 on, not", os.Args[at])
		os.Exit(2)
	}
	return value
}

func throughput(size, best, penalty float64) float64 {
	if size <= best {
		return perWorker * size
	}
	return perWorker * best / (1 + penalty*(size-best))
}

func work(best, penalty float64) {
	due, last := 0.0, time.Now()
	for {
		time.Sleep(2 * time.Millisecond)
		now := time.Now()
		due += now.Sub(last).Seconds() * throughput(float64(runtime.GOMAXPROCS(0)), best, penalty)
		last = now
		whole := uint64(due)
		tidscope.Ops.Add(whole)
		due -= float64(whole)
	}
}

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: paced_go LARGEST BEST PENALTY")
		os.Exit(2)
	}
	largest := int(number(1))
	runtime.GOMAXPROCS(largest)
	agent, err := tidscope.Start(tidscope.Bounds(1, largest))
	if err != nil {
		fmt.Println("failed:", err)
		os.Exit(1)
	}
	go work(number(2), number(3))
	fmt.Println("ready", agent.Path)
	io.Copy(io.Discard, os.Stdin)
	agent.Close()
}

// A program without an agent whose throughput at each GOMAXPROCS is known, as it serves it itself.
//
// One thread does PER_SECOND operations a second, each one more costs all of them a share PENALTY. The
// operations that are due by the clock are counted, so that a late wake-up changes nothing.
//
//	served PER_SECOND PENALTY    works until its standard input ends; says its port
package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"sync/atomic"
	"time"
)

var ops atomic.Uint64

func number(at int) float64 {
	value, err := strconv.ParseFloat(os.Args[at], 64)
	if err != nil || value < 0 {
		fmt.Fprintln(os.Stderr, "want a number from 0 on, not", os.Args[at])
		os.Exit(2)
	}
	return value
}

func work(perSecond, penalty float64) {
	due, last := 0.0, time.Now()
	for {
		time.Sleep(2 * time.Millisecond)
		now := time.Now()
		others := float64(runtime.GOMAXPROCS(0) - 1)
		due += now.Sub(last).Seconds() * perSecond / (1 + penalty*others)
		last = now
		whole := uint64(due)
		ops.Add(whole)
		due -= float64(whole)
	}
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: served PER_SECOND PENALTY")
		os.Exit(2)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println("failed:", err)
		os.Exit(1)
	}
	http.HandleFunc("/metrics", func(answer http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(answer, "served_ops_total %d\n", ops.Load())
	})
	go http.Serve(listener, nil)
	go work(number(1), number(2))
	fmt.Println("ready", listener.Addr().(*net.TCPAddr).Port)
	io.Copy(io.Discard, os.Stdin)
}

// Goroutines that wait in known numbers and places, and serve their profile.
//
// Usage: waiting. Prints the port of its profiles, and waits until its standard input ends.
package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	_ "net/http/pprof"
	"os"
	"sync"
	"time"
)

var (
	lock    sync.Mutex
	full    = make(chan int, 2)
	entered sync.WaitGroup
)

func takePlace() { full <- 1 }

func useLock() { lock.Lock() }

func waitForWork(work chan int) { <-work }

func choose(ctx context.Context, work chan int) {
	select {
	case <-work:
	case <-ctx.Done():
	}
}

func hold() { time.Sleep(time.Hour) }

func start(goroutines int, wait func()) {
	for range goroutines {
		entered.Add(1)
		go func() {
			entered.Done()
			wait()
		}()
	}
}

func main() {
	lock.Lock()
	work := make(chan int)
	start(2+5, takePlace)
	start(4, useLock)
	start(3, func() { waitForWork(work) })
	start(2, func() { choose(context.Background(), work) })
	start(6, hold)
	entered.Wait()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	go http.Serve(listener, nil)
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	io.Copy(io.Discard, os.Stdin)
}

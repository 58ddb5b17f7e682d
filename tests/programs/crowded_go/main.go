// A steered pool whose jobs only wait, and get in each other's way.
//
//	crowded_go WORKERS LARGEST    works until its standard input ends
//
// With n jobs at once each waits 7.3 ms and 0.22 ms times the square of n: 6 do most.
package main

import (
	"fmt"
	"io"
	"log"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	tidscope "github.com/tidscope/tidscope/agents/go"
)

const (
	aloneMs   = 7.3
	crowdedMs = 0.22
)

var running atomic.Int64

func job() error {
	together := float64(running.Add(1))
	defer running.Add(-1)
	ms := aloneMs + crowdedMs*together*together
	time.Sleep(time.Duration(ms * float64(time.Millisecond)))
	return nil
}

func number(at int) int {
	value, err := strconv.Atoi(os.Args[at])
	if err != nil || value < 1 {
		log.Fatalf("want a number from 1 on, not %s", os.Args[at])
	}
	return value
}

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: crowded_go WORKERS LARGEST")
	}
	pool := tidscope.NewPool("crowded", number(1))
	agent, err := tidscope.Start(tidscope.Steer(pool, 1, number(2)))
	if err != nil {
		log.Fatal(err)
	}
	places := make(chan struct{}, 2*number(2))
	go func() {
		for {
			places <- struct{}{}
			pool.Submit(func() error {
				defer func() { <-places }()
				return job()
			})
		}
	}()
	fmt.Println("ready", agent.Path)
	io.Copy(io.Discard, os.Stdin)
	agent.Close()
}

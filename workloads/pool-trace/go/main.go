// A pool of workers that serves the requests of a trace, again and again.
//
// Each request computes for its time, in a loop that was calibrated, and sleeps for a multiple of it.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"log"
	"os"
	"strings"
	"time"

	tidscope "github.com/tidscope/tidscope/agents/go"
	workload "github.com/tidscope/tidscope/workloads/driver"
)

// request is a line of the trace; times in µs.
type request struct{ id, application, start, execution int }

func main() {
	path := flag.String("trace", "", "file with a request a line: id, application, start, execution")
	size := flag.Int("size", 1, "workers of the pool")
	upper := flag.Int("upper", 1, "most workers that a policy may set")
	sleeps := flag.Float64("free-workload", 100, "times that a request sleeps for its execution time")
	queue := flag.Int("queue", 64, "requests that wait at most; the trace waits while there are more")
	load := flag.Float64("load", 1, "how many times as fast the requests of the trace come")
	cycle := flag.Int("cycle", 0, "finished requests after which the pool adjusts its size; 0: never")
	flag.Parse()
	log.SetFlags(0)
	trace, err := read(*path)
	if err != nil {
		log.Fatal(err)
	}
	most := max(*upper, *size)
	loops := calibrate()
	pool := tidscope.NewPool("requests", *size)
	agent, err := tidscope.Start(tidscope.Steer(pool, 1, most))
	if err != nil {
		log.Fatal(err)
	}
	defer agent.Close()
	var figures workload.Figures
	adjust := newAdjuster(*cycle, *size, most, pool.Resize)
	go submit(trace, *load, *queue+*size, func(one request, free func()) {
		queued := time.Now()
		pool.Submit(func() error {
			defer free()
			waited := time.Since(queued)
			figures.Waited(waited)
			spin(loops * float64(one.execution))
			time.Sleep(time.Duration(float64(one.execution)**sleeps) * time.Microsecond)
			figures.Count(1)
			adjust.finished(waited)
			return nil
		})
	})
	workload.Serve("", &figures)
}

// submit hands over the requests at their times, up to a bound on queued ones; each frees its place.
func submit(trace []request, load float64, places int, serve func(one request, free func())) {
	taken := make(chan struct{}, places)
	due := time.Now()
	for {
		for _, one := range trace {
			due = due.Add(time.Duration(float64(one.start) / load * float64(time.Microsecond)))
			time.Sleep(time.Until(due))
			select {
			case taken <- struct{}{}:
			default:
				// The pool is slower than the trace; shift the remaining requests.
				taken <- struct{}{}
				due = time.Now()
			}
			serve(one, func() { <-taken })
		}
	}
}

func read(path string) ([]request, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var trace []request
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if line := strings.TrimSpace(lines.Text()); line != "" && line[0] != '#' {
			var one request
			if _, err := fmt.Sscan(line, &one.id, &one.application, &one.start, &one.execution); err != nil {
				return nil, fmt.Errorf("%s: %q is no request: %w", path, line, err)
			}
			trace = append(trace, one)
		}
	}
	if len(trace) == 0 {
		return nil, fmt.Errorf("%s has no requests", path)
	}
	return trace, lines.Err()
}

var sink float64

func spin(loops float64) {
	value := 1.0
	for left := loops; left > 0; left-- {
		value += value * 1e-9
	}
	sink = value
}

// calibrate returns loops per microsecond: the maximum of several tries, since disturbances only
// slow a try.
func calibrate() float64 {
	const loops, tries = 1e6, 9
	most := 0.0
	for try := 0; try < tries; try++ {
		began := time.Now()
		spin(loops)
		most = max(most, loops/float64(time.Since(began).Microseconds()))
	}
	return most
}

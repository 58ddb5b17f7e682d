// An example: a service with a pool that tidscope reads, and whose GOMAXPROCS it steers.
//
// Each line of its input is a number of requests to serve; it logs what it measured itself. Start it
// with `go run .`, attach to it, and type numbers.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"log"
	"os"
	"strconv"
	"sync"
	"time"

	tidscope "github.com/tidscope/tidscope/agents/go"
)

// totals are what the service measures itself.
type totals struct {
	mutex       sync.Mutex
	Finished    int64 `json:"finished"`
	Failed      int64 `json:"failed"`
	ResponseNs  int64 `json:"response_ns"`
	QueueWaitNs int64 `json:"queue_wait_ns"`
	RunNs       int64 `json:"run_ns"`
}

func (t *totals) note(queued, started time.Time, failed bool) {
	now := time.Now()
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.Finished++
	if failed {
		t.Failed++
	}
	t.ResponseNs += now.Sub(queued).Nanoseconds()
	t.QueueWaitNs += started.Sub(queued).Nanoseconds()
	t.RunNs += now.Sub(started).Nanoseconds()
}

// serve serves a request; every fiftieth fails.
func serve(number int, queued time.Time, seen *totals) error {
	started := time.Now()
	time.Sleep(time.Duration(1+number%3) * time.Millisecond)
	failed := number%50 == 0
	seen.note(queued, started, failed)
	tidscope.Ops.Add(1)
	if failed {
		return errors.New("this request cannot be served")
	}
	return nil
}

func main() {
	agent, err := tidscope.Start()
	if err != nil {
		log.Fatal(err)
	}
	defer agent.Close()
	pool := tidscope.NewPool("requests", 4)
	os.Stdout.WriteString("ready " + agent.Path + "\n")
	var seen totals
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		requests, err := strconv.Atoi(lines.Text())
		if err != nil {
			log.Print(err)
			continue
		}
		for number := 0; number < requests; number++ {
			number, queued := number, time.Now()
			pool.Submit(func() error { return serve(number, queued, &seen) })
		}
		pool.Drain()
		json.NewEncoder(os.Stdout).Encode(&seen)
	}
}

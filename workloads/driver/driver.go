// Package workload is what the Go workloads share: the agent, and the lines by which an experiment
// begins and ends what it measures. docs/experiments.md describes the lines.
package workload

import (
	"bufio"
	"encoding/json"
	"log"
	"maps"
	"os"
	"runtime"
	"time"

	tidscope "github.com/tidscope/tidscope/agents/go"
)

// Start starts the agent, which may set GOMAXPROCS from 1 to upper. Without it the program ends: what
// steers it and what counts its operations would be missing.
func Start(upper int) *tidscope.Agent {
	log.SetFlags(0)
	agent, err := tidscope.Start(tidscope.Bounds(1, max(upper, runtime.GOMAXPROCS(0))))
	if err != nil {
		log.Fatal(err)
	}
	return agent
}

// Figures counts operations, and the time that they waited in a queue. Its zero value is ready.
type Figures struct {
	ops, waits, waitedNs tidscope.Counter

	began                  time.Time
	opsAt, waitsAt, nanoAt uint64

	latencies   []*Latencies
	latenciesAt []uint64
}

// Latencies is where one goroutine notes how long its operations last. All are there before Serve.
func (f *Figures) Latencies() *Latencies {
	one := new(Latencies)
	f.latencies = append(f.latencies, one)
	return one
}

// Done counts operations that are done, here and for the agent.
func (f *Figures) Done(operations uint64) {
	tidscope.Ops.Add(operations)
	f.Count(operations)
}

// Count counts operations here, as a load generator does, which has no agent.
func (f *Figures) Count(operations uint64) { f.ops.Add(operations) }

// Waited notes how long an operation waited before it began.
func (f *Figures) Waited(time time.Duration) {
	f.waits.Add(1)
	f.waitedNs.Add(uint64(time.Nanoseconds()))
}

// Begin counts from now on.
func (f *Figures) Begin() {
	f.began = time.Now()
	f.opsAt, f.waitsAt, f.nanoAt = f.ops.Load(), f.waits.Load(), f.waitedNs.Load()
	f.latenciesAt = summed(f.latencies)
}

// End is what was counted since Begin.
func (f *Figures) End() map[string]float64 {
	found := map[string]float64{
		"ops":       float64(f.ops.Load() - f.opsAt),
		"elapsed_s": time.Since(f.began).Seconds(),
	}
	if waits := f.waits.Load() - f.waitsAt; waits > 0 {
		found["wait_us"] = float64(f.waitedNs.Load()-f.nanoAt) / 1e3 / float64(waits)
	}
	maps.Copy(found, latencyFigures(f.latenciesAt, summed(f.latencies)))
	return found
}

// Serve says that the program is ready, and at which address if it has one, and answers the lines of
// its input until that ends.
func Serve(address string, figures *Figures) {
	answers := json.NewEncoder(os.Stdout)
	answers.Encode(map[string]string{"ready": address})
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		switch lines.Text() {
		case "begin":
			figures.Begin()
			answers.Encode(map[string]float64{})
		case "end":
			answers.Encode(figures.End())
		default:
			log.Fatalf("%q is neither begin nor end", lines.Text())
		}
	}
}

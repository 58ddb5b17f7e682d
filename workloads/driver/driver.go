// Package workload is shared by the Go workloads: the agent, and the lines by which an experiment
// begins and ends a measurement. docs/experiments.md describes the lines.
package workload

import (
	"bufio"
	"encoding/json"
	"log"
	"maps"
	"math"
	"math/bits"
	"os"
	"runtime"
	"sync/atomic"
	"time"

	tidscope "github.com/tidscope/tidscope/agents/go"
)

// Start starts the agent, which may set GOMAXPROCS from 1 to upper. The program exits if that fails,
// because nothing would steer it or count its operations.
func Start(upper int) *tidscope.Agent {
	log.SetFlags(0)
	agent, err := tidscope.Start(tidscope.Bounds(1, max(upper, runtime.GOMAXPROCS(0))))
	if err != nil {
		log.Fatal(err)
	}
	return agent
}

// Figures counts operations and their queue waits. Its zero value is ready.
type Figures struct {
	ops, waits, waitedNs tidscope.Counter

	began                  time.Time
	opsAt, waitsAt, nanoAt uint64

	latencies   []*Latencies
	latenciesAt []uint64
}

// Latencies returns the histogram of one goroutine. Create all of them before Serve.
func (f *Figures) Latencies() *Latencies {
	one := new(Latencies)
	f.latencies = append(f.latencies, one)
	return one
}

// Done counts finished operations, here and for the agent.
func (f *Figures) Done(operations uint64) {
	tidscope.Ops.Add(operations)
	f.Count(operations)
}

// Count counts operations here only; load generators have no agent.
func (f *Figures) Count(operations uint64) { f.ops.Add(operations) }

// Waited notes how long an operation waited before it began.
func (f *Figures) Waited(time time.Duration) {
	f.waits.Add(1)
	f.waitedNs.Add(uint64(time.Nanoseconds()))
}

// Begin resets the counts.
func (f *Figures) Begin() {
	f.began = time.Now()
	f.opsAt, f.waitsAt, f.nanoAt = f.ops.Load(), f.waits.Load(), f.waitedNs.Load()
	f.latenciesAt = summed(f.latencies)
}

// End returns the counts since Begin.
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

// Serve reports readiness, with an address if there is one, and answers the lines of the input until
// its end.
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

// Latencies are kept in steps that are a 32nd of a power of two of nanoseconds: at most 3 % wide.
const (
	stepBits = 5
	steps    = (64 - stepBits + 1) << stepBits
)

// Latencies is a histogram of durations of operations. One goroutine adds; others read.
type Latencies struct{ counts [steps]atomic.Uint64 }

// Add notes how long an operation lasted.
func (l *Latencies) Add(lasted time.Duration) {
	count := &l.counts[stepOf(uint64(max(lasted, 0)))]
	count.Store(count.Load() + 1)
}

func stepOf(nanoseconds uint64) int {
	power := max(bits.Len64(nanoseconds)-stepBits-1, 0)
	return power<<stepBits + int(nanoseconds>>power)
}

// middleOf is the middle of a step, in microseconds.
func middleOf(step int) float64 {
	power := max(step>>stepBits-1, 0)
	low := float64(step-power<<stepBits) * math.Exp2(float64(power))
	return (low + (math.Exp2(float64(power))-1)/2) / 1e3
}

// summed returns the sum of all goroutines' histograms.
func summed(all []*Latencies) []uint64 {
	found := make([]uint64, steps)
	for _, one := range all {
		for step := range found {
			found[step] += one.counts[step].Load()
		}
	}
	return found
}

// latencyFigures describes the operations between two sums.
func latencyFigures(before, after []uint64) map[string]float64 {
	counts := make([]float64, steps)
	var total, sum, squares float64
	for step := range counts {
		counts[step] = float64(after[step] - before[step])
		middle := middleOf(step)
		total += counts[step]
		sum += counts[step] * middle
		squares += counts[step] * middle * middle
	}
	if total == 0 {
		return nil
	}
	mean := sum / total
	quantile := func(share float64) float64 {
		left := share * total
		for step, count := range counts {
			if left -= count; left <= 0 && count > 0 {
				return middleOf(step)
			}
		}
		return 0
	}
	return map[string]float64{
		"mean_us":      mean,
		"deviation_us": math.Sqrt(max(0, squares/total-mean*mean)),
		"p50_us":       quantile(0.5),
		"p95_us":       quantile(0.95),
		"p99_us":       quantile(0.99),
	}
}

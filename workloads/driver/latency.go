package workload

import (
	"math"
	"math/bits"
	"sync/atomic"
	"time"
)

// Latencies are kept in steps that are a 32nd of a power of two of nanoseconds: at most 3 % wide.
const (
	stepBits = 5
	steps    = (64 - stepBits + 1) << stepBits
)

// Latencies counts operations by how long they lasted. One goroutine adds; others read.
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

// summed adds up what goroutines have noted.
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

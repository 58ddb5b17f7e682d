package tidscope

import (
	"math/bits"
	"time"
)

const (
	buckets    = 32
	lowestBits = 10
)

// figures of a pool, cumulative; a lock of its owner guards them.
type figures struct {
	submitted, started, finished, failed int64
	responseNs, runNs, queueWaitNs       int64
	idleNs                               int64
	response, queueWait                  [buckets]int64

	idle      int64 // workers without a job, since idleSince
	idleSince time.Time
}

// countIdle says that more or fewer workers are without a job from now on.
func (f *figures) countIdle(change int64, now time.Time) {
	if f.idle > 0 {
		f.idleNs += f.idle * now.Sub(f.idleSince).Nanoseconds()
	}
	f.idleSince = now
	f.idle += change
}

func (f *figures) start(queued, now time.Time) {
	wait := now.Sub(queued).Nanoseconds()
	f.started++
	f.queueWaitNs += wait
	f.queueWait[bucketOf(wait)]++
}

func (f *figures) finish(queued, started, now time.Time, failed bool) {
	response := now.Sub(queued).Nanoseconds()
	f.finished++
	if failed {
		f.failed++
	}
	f.responseNs += response
	f.runNs += now.Sub(started).Nanoseconds()
	f.response[bucketOf(response)]++
}

func (f *figures) add(other *figures) {
	f.submitted += other.submitted
	f.started += other.started
	f.finished += other.finished
	f.failed += other.failed
	f.responseNs += other.responseNs
	f.runNs += other.runNs
	f.queueWaitNs += other.queueWaitNs
	f.idleNs += other.idleNs
	for b := range f.response {
		f.response[b] += other.response[b]
		f.queueWait[b] += other.queueWait[b]
	}
}

// bucketOf is the place of a time in a histogram: bucket b is of times below 2^(b+10) ns.
func bucketOf(ns int64) int {
	if ns <= 0 {
		return 0
	}
	return min(bits.Len64(uint64(ns)>>lowestBits), buckets-1)
}

// trimmed leaves out the zeros at the end.
func trimmed(counts []int64) []int64 {
	end := len(counts)
	for end > 0 && counts[end-1] == 0 {
		end--
	}
	return counts[:end]
}

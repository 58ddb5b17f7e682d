package tidscope

import (
	"math"
	"math/bits"
	"runtime"
	"runtime/metrics"
	"sync"
	"time"
	"unicode/utf8"
)

const (
	mostNames   = 32
	longestName = 64
	latencies   = "/sched/latencies:seconds"
)

// poolAnswer is an element of the answer to read_pools; nil for figures that this kind of pool lacks.
type poolAnswer struct {
	Name        string  `json:"name"`
	Kind        string  `json:"kind"`
	Size        *int64  `json:"size"`
	Busy        *int64  `json:"busy"`
	Queue       *int64  `json:"queue"`
	Submitted   *int64  `json:"submitted"`
	Started     *int64  `json:"started"`
	Finished    *int64  `json:"finished"`
	Failed      *int64  `json:"failed"`
	ResponseNs  *int64  `json:"response_ns"`
	RunNs       *int64  `json:"run_ns"`
	QueueWaitNs *int64  `json:"queue_wait_ns"`
	IdleNs      *int64  `json:"idle_ns"`
	Parks       *int64  `json:"parks"`
	Steals      *int64  `json:"steals"`
	Polls       *int64  `json:"polls"`
	Response    []int64 `json:"response"`
	QueueWait   []int64 `json:"queue_wait"`
}

type poolsAnswer struct {
	Pools       []poolAnswer `json:"pools"`
	Omitted     int          `json:"omitted"`
	MonotonicNs int64        `json:"monotonic_ns"`
}

// reported is a pool that can be read: size, busy workers, queued jobs and figures.
type reported interface {
	report() (size, busy, queue int64, did figures)
}

// named are the pools of one name: the live ones, and the figures of ended ones.
type named struct {
	name  string
	pools map[reported]struct{}
	past  figures
}

var registry struct {
	mutex   sync.Mutex
	names   []*named
	omitted map[string]struct{}
}

func register(name string, pool reported) {
	name = shortened(name)
	registry.mutex.Lock()
	defer registry.mutex.Unlock()
	for _, known := range registry.names {
		if known.name == name {
			known.pools[pool] = struct{}{}
			return
		}
	}
	// GOMAXPROCS is one of the names.
	if len(registry.names) >= mostNames-1 {
		if registry.omitted == nil {
			registry.omitted = map[string]struct{}{}
		}
		registry.omitted[name] = struct{}{}
		return
	}
	made := &named{name: name, pools: map[reported]struct{}{pool: {}}}
	registry.names = append(registry.names, made)
}

// unregister removes a pool; its figures stay.
func unregister(pool reported) {
	registry.mutex.Lock()
	defer registry.mutex.Unlock()
	for _, known := range registry.names {
		if _, there := known.pools[pool]; there {
			delete(known.pools, pool)
			_, _, _, did := pool.report()
			known.past.add(&did)
		}
	}
}

func readPools() ([]poolAnswer, int) {
	registry.mutex.Lock()
	defer registry.mutex.Unlock()
	answers := []poolAnswer{scheduler()}
	for _, known := range registry.names {
		answers = append(answers, known.answer())
	}
	return answers, len(registry.omitted)
}

func (n *named) answer() poolAnswer {
	var size, busy, queue int64
	total := n.past
	for pool := range n.pools {
		s, b, q, did := pool.report()
		size, busy, queue = size+s, busy+b, queue+q
		total.add(&did)
	}
	return poolAnswer{
		Name: n.name, Kind: "workers", Size: &size, Busy: &busy, Queue: &queue,
		Submitted: &total.submitted, Started: &total.started, Finished: &total.finished,
		Failed: &total.failed, ResponseNs: &total.responseNs, RunNs: &total.runNs,
		QueueWaitNs: &total.queueWaitNs, IdleNs: &total.idleNs,
		Response:  append([]int64{}, trimmed(total.response[:])...),
		QueueWait: append([]int64{}, trimmed(total.queueWait[:])...),
	}
}

// scheduler is GOMAXPROCS as a pool, whose jobs are the operations in Ops. The runtime samples one of
// eight goroutine waits, so their histogram is known but not their number.
func scheduler() poolAnswer {
	size := int64(runtime.GOMAXPROCS(0))
	made := poolAnswer{Name: "GOMAXPROCS", Kind: "gomaxprocs", Size: &size, QueueWait: waits()}
	if ops := int64(Ops.Load()); ops > 0 {
		made.Finished = &ops
	}
	return made
}

// waits is the histogram of waits of runnable goroutines, or nil if the runtime lacks it.
func waits() []int64 {
	sample := []metrics.Sample{{Name: latencies}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindFloat64Histogram {
		return nil
	}
	found := sample[0].Value.Float64Histogram()
	var counts [buckets]int64
	for i, count := range found.Counts {
		lower := found.Buckets[i]
		if math.IsInf(lower, -1) || lower < 0 {
			lower = 0
		}
		// The bounds include powers of two; half a nanosecond allows for rounding.
		counts[bucketOf(int64(lower*1e9+0.5))] += int64(count)
	}
	return append([]int64{}, trimmed(counts[:])...)
}

// shortened truncates a name; the result is never empty.
func shortened(name string) string {
	if name == "" {
		return "pool"
	}
	if utf8.RuneCountInString(name) > longestName {
		return string([]rune(name)[:longestName])
	}
	return name
}

const (
	buckets    = 32
	lowestBits = 10
)

// figures are the cumulative figures of a pool, guarded by their owner's lock.
type figures struct {
	submitted, started, finished, failed int64
	responseNs, runNs, queueWaitNs       int64
	idleNs                               int64
	response, queueWait                  [buckets]int64

	idle      int64 // workers without a job, since idleSince
	idleSince time.Time
}

// countIdle changes the number of idle workers.
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

// bucketOf returns the histogram bucket of a time: bucket b holds times below 2^(b+10) ns.
func bucketOf(ns int64) int {
	if ns <= 0 {
		return 0
	}
	return min(bits.Len64(uint64(ns)>>lowestBits), buckets-1)
}

// trimmed removes trailing zeros.
func trimmed(counts []int64) []int64 {
	end := len(counts)
	for end > 0 && counts[end-1] == 0 {
		end--
	}
	return counts[:end]
}

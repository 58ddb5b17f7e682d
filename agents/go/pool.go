package tidscope

import (
	"errors"
	"sync"
	"time"
)

// ErrClosed is what Submit returns after Close.
var ErrClosed = errors.New("tidscope: the pool is closed")

// A Pool runs jobs in a number of goroutines that can change, and is reported to collectors.
type Pool struct {
	mutex   sync.Mutex
	changed sync.Cond
	jobs    []queuedJob
	limit   int
	workers int
	closed  bool
	did     figures
}

type queuedJob struct {
	run    func() error
	queued time.Time
}

// NewPool makes a pool. Pools of one name are added up in what is reported.
func NewPool(name string, workers int) *Pool {
	p := &Pool{limit: max(1, workers)}
	p.changed.L = &p.mutex
	register(name, p)
	return p
}

// Submit queues a job for a worker. A job that returns an error or panics has failed; a panic ends
// the program.
func (p *Pool) Submit(job func() error) error {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.closed {
		return ErrClosed
	}
	now := time.Now()
	p.did.submitted++
	p.jobs = append(p.jobs, queuedJob{job, now})
	if int(p.did.idle) < len(p.jobs) && p.workers < p.limit {
		p.workers++
		p.did.countIdle(1, now)
		go p.work()
	}
	p.changed.Signal()
	return nil
}

// Resize changes how many workers there are. It interrupts no job.
func (p *Pool) Resize(workers int) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.limit = max(1, workers)
	now := time.Now()
	for p.workers < p.limit && int(p.did.idle) < len(p.jobs) {
		p.workers++
		p.did.countIdle(1, now)
		go p.work()
	}
	p.changed.Broadcast()
}

// Drain waits until no job waits or runs.
func (p *Pool) Drain() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	for len(p.jobs) > 0 || int(p.did.idle) < p.workers {
		p.changed.Wait()
	}
}

// Close waits until all jobs are done. The pool's figures are still reported.
func (p *Pool) Close() {
	p.mutex.Lock()
	p.closed = true
	p.changed.Broadcast()
	for p.workers > 0 {
		p.changed.Wait()
	}
	p.mutex.Unlock()
	unregister(p)
}

// work runs jobs until it is one worker too many, or the pool is closed and empty.
func (p *Pool) work() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	for {
		for len(p.jobs) == 0 && !p.closed && p.workers <= p.limit {
			p.changed.Wait()
		}
		if len(p.jobs) == 0 || p.workers > p.limit {
			break
		}
		job := p.jobs[0]
		p.jobs[0] = queuedJob{}
		p.jobs = p.jobs[1:]
		started := time.Now()
		p.did.countIdle(-1, started)
		p.did.start(job.queued, started)
		p.mutex.Unlock()
		err := job.run()
		p.mutex.Lock()
		now := time.Now()
		p.did.finish(job.queued, started, now, err != nil)
		p.did.countIdle(1, now)
		if len(p.jobs) == 0 {
			p.changed.Broadcast()
		}
	}
	p.did.countIdle(-1, time.Now())
	p.workers--
	p.changed.Broadcast()
}

func (p *Pool) report() (size, busy, queue int64, did figures) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.did.countIdle(0, time.Now())
	if !p.closed || p.workers > 0 {
		size = int64(max(p.limit, p.workers))
	}
	return size, int64(p.workers) - p.did.idle, int64(len(p.jobs)), p.did
}

// A Watched is the program's own pool, reported unmodified.
type Watched struct {
	mutex sync.Mutex
	size  func() int
	busy  int64
	did   figures
}

// Watch reports a pool. Each of its jobs goes through Wrap when it is submitted.
//
// size returns the current number of workers.
func Watch(name string, size func() int) *Watched {
	w := &Watched{size: size}
	register(name, w)
	return w
}

// Wrap counts a submitted job and returns the function that a worker must run once in its place.
func (w *Watched) Wrap(job func() error) func() error {
	queued := time.Now()
	w.mutex.Lock()
	w.did.submitted++
	w.mutex.Unlock()
	return func() (err error) {
		started := time.Now()
		w.begin(queued, started)
		failed := true // Until it returns: a panic may be recovered by the pool.
		defer func() { w.end(queued, started, failed) }()
		err = job()
		failed = err != nil
		return err
	}
}

func (w *Watched) begin(queued, started time.Time) {
	size := int64(w.size())
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.busy++
	w.did.countIdle(0, started)
	w.did.idle = size - w.busy
	w.did.start(queued, started)
}

func (w *Watched) end(queued, started time.Time, failed bool) {
	size, now := int64(w.size()), time.Now()
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.busy--
	w.did.countIdle(0, now)
	w.did.idle = size - w.busy
	w.did.finish(queued, started, now, failed)
}

func (w *Watched) report() (size, busy, queue int64, did figures) {
	size = int64(w.size())
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.did.countIdle(0, time.Now())
	w.did.idle = size - w.busy
	return size, w.busy, w.did.submitted - w.did.started, w.did
}

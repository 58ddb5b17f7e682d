package tidscope

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"
)

// A lease holds the size that a client set and must renew.
//
// It outlives its client's connection, so that a restarted collector can continue. Until it expires,
// another client may take it only if that connection is closed.
type lease struct {
	knob   knob
	bounds bounds

	mutex  sync.Mutex
	holder *client // nil: nobody, or somebody who is gone
	timer  *time.Timer
	// round lets a late timer detect that the lease was renewed or released.
	round  uint64
	active bool
	ended  bool
}

func newLease(turned knob, limits bounds) *lease {
	return &lease{knob: turned, bounds: limits}
}

// set changes the size until duration is over, and returns what is in effect.
func (l *lease) set(by *client, size int, duration time.Duration) (int, *failure) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	switch {
	case l.ended:
		return 0, fail(codeEnding, "the program is closing its agent")
	case l.holder != nil && l.holder != by:
		return 0, fail(codeBusy, "another client steers; its lease must end first")
	case size < l.bounds.lower || size > l.bounds.upper:
		return 0, fail(codeBounds, "size %d is not within the bounds, %d to %d", size,
			l.bounds.lower, l.bounds.upper)
	}
	// Armed first: setting takes a while, and no size may be set without a lease.
	l.stop()
	l.holder, l.active = by, true
	round := l.round
	l.timer = time.AfterFunc(duration, func() { l.expire(round) })
	if l.knob.size() != size {
		l.knob.set(size)
	}
	return l.knob.size(), nil
}

// release restores the original size, whichever client changed it.
func (l *lease) release() int {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.restore()
	return l.knob.size()
}

// forget notes that a client has disconnected; its lease continues.
func (l *lease) forget(gone *client) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.holder == gone {
		l.holder = nil
	}
}

// end restores the original size for good.
func (l *lease) end() {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.restore()
	l.ended = true
}

func (l *lease) expire(round uint64) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.round == round {
		l.restore()
	}
}

func (l *lease) restore() {
	l.stop()
	if l.active {
		l.knob.restore()
	}
	l.holder, l.active = nil, false
}

func (l *lease) stop() {
	l.round++
	if l.timer != nil {
		l.timer.Stop()
		l.timer = nil
	}
}

// most is the largest size in the protocol.
const most = 1 << 20

type bounds struct{ lower, upper int }

func (b bounds) check(original int) error {
	if 1 <= b.lower && b.lower <= original && original <= b.upper && b.upper <= most {
		return nil
	}
	return fmt.Errorf("tidscope: bounds %d to %d: they must begin at 1 or later and hold the size,"+
		" which is %d", b.lower, b.upper, original)
}

// A knob is what a collector sets: GOMAXPROCS, or the workers of a pool.
type knob interface {
	kind() string
	// size is the size in effect, and first the one before anything was set.
	size() int
	first() int
	set(size int)
	restore()
	// read returns the counted operations, and how long and how many jobs waited in a queue, if any.
	read() reading
}

// gomaxprocs is the number of processors that run goroutines.
type gomaxprocs struct {
	original int
	// byRuntime is true if the runtime appears to have chosen the value and keeps adapting it.
	byRuntime bool
}

func newGomaxprocs() gomaxprocs {
	return gomaxprocs{runtime.GOMAXPROCS(0), os.Getenv("GOMAXPROCS") == ""}
}

func (g gomaxprocs) kind() string { return "gomaxprocs" }

func (g gomaxprocs) size() int { return runtime.GOMAXPROCS(0) }

func (g gomaxprocs) first() int { return g.original }

func (g gomaxprocs) read() reading { return reading{Ops: Ops.Load(), Size: g.size()} }

// set returns once the size is in effect. The runtime stops the program for it, and waits for a
// running garbage collection first.
func (g gomaxprocs) set(size int) { runtime.GOMAXPROCS(size) }

func (g gomaxprocs) restore() {
	if g.byRuntime {
		// Let the runtime choose again, which set had disabled.
		chooseByRuntime()
	}
	if g.size() != g.original {
		g.set(g.original)
	}
}

// workers is the number of workers of one pool; its finished jobs are the operations.
type workers struct {
	pool     *Pool
	original int
}

func newWorkers(pool *Pool) workers {
	size, _, _, _ := pool.report()
	return workers{pool, int(size)}
}

func (w workers) kind() string { return "pool" }

func (w workers) size() int {
	size, _, _, _ := w.pool.report()
	return max(1, int(size)) // A closed pool has no workers.
}

func (w workers) first() int { return w.original }

func (w workers) set(size int) { w.pool.Resize(size) }

func (w workers) restore() { w.pool.Resize(w.original) }

func (w workers) read() reading {
	size, _, _, did := w.pool.report()
	return reading{Ops: uint64(did.finished), Size: max(1, int(size)),
		QueueWaitNs: &did.queueWaitNs, QueueWaits: &did.started}
}

package tidscope

import (
	"sync"
	"time"
)

// A lease holds the size that a client set, for as long as it renews it.
//
// It outlives its client's connection, so that a collector that is restarted in time finds things
// as they were; until it is over, another client may take it only if that connection is gone.
type lease struct {
	knob   gomaxprocs
	bounds bounds

	mutex  sync.Mutex
	holder *client // nil: nobody, or somebody who is gone
	timer  *time.Timer
	// round tells a timer that fires late that the lease was renewed or released meanwhile.
	round  uint64
	active bool
	ended  bool
}

func newLease(knob gomaxprocs, limits bounds) *lease {
	return &lease{knob: knob, bounds: limits}
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
	// Armed first: setting can take a while, and the size must never stand without a lease.
	l.stop()
	l.holder, l.active = by, true
	round := l.round
	l.timer = time.AfterFunc(duration, func() { l.expire(round) })
	if l.knob.size() != size {
		l.knob.set(size)
	}
	return l.knob.size(), nil
}

// release restores the original size, whoever set another one.
func (l *lease) release() int {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.restore()
	return l.knob.size()
}

// forget is called when a client is gone: its lease runs on without it.
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

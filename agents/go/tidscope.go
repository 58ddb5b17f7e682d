// Package tidscope lets tidscope steer GOMAXPROCS of the program that it is linked into.
//
//	agent, err := tidscope.Start()
//	if err != nil {
//		log.Print(err) // the program works without it
//	}
//	defer agent.Close()
//	...
//	tidscope.Ops.Add(1) // after each request, job, transaction
//
// Nothing is steered before a collector on the same host, run by root or by the same user, asks for
// it; and what was steered is taken back when it stops asking.
package tidscope

import (
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Version of this module, reported to collectors.
const Version = "0.1.0"

// Ops counts the program's operations: what steering tries to have more of.
var Ops Counter

var (
	starting     sync.Mutex
	running      atomic.Pointer[Agent]
	errIsRunning = errors.New("tidscope: the agent of this program is already running")
)

// An Agent listens for collectors, at a Unix socket.
type Agent struct {
	// Path of its socket.
	Path string

	server *server
	lease  *lease
	once   sync.Once
}

// An Option of Start.
type Option func(*bounds)

// Bounds limits what GOMAXPROCS can be steered to. Without it, that is 1 to what it is at Start.
func Bounds(lower, upper int) Option {
	return func(b *bounds) { b.lower, b.upper = lower, upper }
}

// Start makes the agent listen. A program has one agent at most.
//
// It fails when there is no folder for the socket; see README.md for where that is. Close may be
// called on what it returns even then.
func Start(options ...Option) (*Agent, error) {
	knob := newGomaxprocs()
	limits := bounds{1, knob.original}
	for _, option := range options {
		option(&limits)
	}
	if err := limits.check(knob.original); err != nil {
		return nil, err
	}
	starting.Lock()
	defer starting.Unlock()
	if running.Load() != nil {
		return nil, errIsRunning
	}
	listener, path, err := listen(os.Getpid())
	if err != nil {
		return nil, err
	}
	held := newLease(knob, limits)
	agent := &Agent{Path: path, lease: held, server: newServer(listener, held)}
	running.Store(agent)
	return agent, nil
}

// RestartSearch tells collectors that the program entered a new phase: what they learnt about
// good sizes is void. It does not wait, and does nothing without an agent.
func RestartSearch() {
	if agent := running.Load(); agent != nil {
		agent.server.notify(restartSearch)
	}
}

// Close restores GOMAXPROCS and removes the socket. It may be called twice, and on nil.
func (a *Agent) Close() error {
	if a == nil {
		return nil
	}
	var err error
	a.once.Do(func() {
		a.lease.end()
		err = errors.Join(a.server.close(), os.Remove(a.Path))
		running.CompareAndSwap(a, nil)
	})
	return err
}

const (
	shardBits = 6
	shards    = 1 << shardBits
	// Processors fetch cache lines in pairs.
	lineBytes = 128
)

// Counter counts operations. Its zero value is ready; it must not be copied.
//
// It is cut into shards so that processors that count at the same time do not take one cache line
// from each other; README.md has what that costs and saves.
type Counter struct {
	shards [shards]shard
}

type shard struct {
	count atomic.Uint64
	_     [lineBytes - 8]byte
}

// Add counts n more operations: one atomic addition.
func (c *Counter) Add(n uint64) {
	// Goroutines have stacks of their own, of 2 KiB or more: where a local variable is tells them
	// apart, at no cost. A goroutine may change its shard, and two may share one.
	var here byte
	place := uint64(uintptr(unsafe.Pointer(&here))) >> 11
	c.shards[place*0x9E3779B97F4A7C15>>(64-shardBits)].count.Add(n)
}

// Load is how many operations were counted. Those that are being counted meanwhile may be missing;
// it never falls from one call to the next.
func (c *Counter) Load() uint64 {
	var sum uint64
	for i := range c.shards {
		sum += c.shards[i].count.Load()
	}
	return sum
}

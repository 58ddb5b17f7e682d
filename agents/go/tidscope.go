// Package tidscope lets tidscope steer GOMAXPROCS of the program that it is linked into, or a pool.
//
//	agent, err := tidscope.Start()
//	if err != nil {
//		log.Print(err) // the program works without it
//	}
//	defer agent.Close()
//	...
//	tidscope.Ops.Add(1) // after each request, job, transaction
//
// Nothing is steered until a collector on the same host, run by root or by the same user, requests
// it. The original value is restored when the collector stops renewing its request.
package tidscope

import (
	"errors"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Version of this module, reported to collectors.
const Version = "0.1.0"

// Ops counts the program's operations, which steering maximises.
var Ops Counter

var (
	starting     sync.Mutex
	running      atomic.Pointer[Agent]
	errIsRunning = errors.New("tidscope: the agent of this program is already running")
)

// An Agent listens for collectors, at a Unix socket.
type Agent struct {
	// Path of the socket.
	Path string

	server *server
	lease  *lease
	once   sync.Once
}

// An Option of Start.
type Option func(*steered)

type steered struct {
	knob   knob
	bounds bounds
}

// Bounds limits the steered GOMAXPROCS. The default is 1 to the value at Start.
func Bounds(lower, upper int) Option {
	return func(s *steered) { s.bounds = bounds{lower, upper} }
}

// Steer has the workers of a pool steered, from lower to upper, instead of GOMAXPROCS. Its finished
// jobs are the operations; Ops does not count.
func Steer(pool *Pool, lower, upper int) Option {
	return func(s *steered) { *s = steered{newWorkers(pool), bounds{lower, upper}} }
}

// Start makes the agent listen. A program has one agent at most.
//
// It fails if there is no folder for the socket; see README.md. Close may be called on the result even
// then.
func Start(options ...Option) (*Agent, error) {
	chosen := steered{newGomaxprocs(), bounds{1, runtime.GOMAXPROCS(0)}}
	for _, option := range options {
		option(&chosen)
	}
	if err := chosen.bounds.check(chosen.knob.first()); err != nil {
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
	held := newLease(chosen.knob, chosen.bounds)
	agent := &Agent{Path: path, lease: held, server: newServer(listener, held)}
	running.Store(agent)
	return agent, nil
}

// RestartSearch tells collectors to forget what they learnt about good sizes, because the program
// entered a new phase. It does not wait, and does nothing without an agent.
func RestartSearch() {
	if agent := running.Load(); agent != nil {
		agent.server.notify(restartSearch)
	}
}

// Close restores the size and removes the socket. It is idempotent, and may be called on nil.
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
// It is sharded so that processors that count concurrently do not contend for one cache line;
// README.md has the costs and savings.
type Counter struct {
	shards [shards]shard
}

type shard struct {
	count atomic.Uint64
	_     [lineBytes - 8]byte
}

// Add counts n more operations: one atomic addition.
func (c *Counter) Add(n uint64) {
	// Goroutines have separate stacks of at least 2 KiB, so the address of a local variable tells
	// them apart at no cost. A goroutine may change its shard, and two may share one.
	var here byte
	place := uint64(uintptr(unsafe.Pointer(&here))) >> 11
	c.shards[place*0x9E3779B97F4A7C15>>(64-shardBits)].count.Add(n)
}

// Load returns the number of counted operations. It may miss concurrent additions, and never
// decreases.
func (c *Counter) Load() uint64 {
	var sum uint64
	for i := range c.shards {
		sum += c.shards[i].count.Load()
	}
	return sum
}

package tidscope

import (
	"sync/atomic"
	"unsafe"
)

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

// Package defers has deferred unlocks.
package defers

import "sync"

type Box struct {
	mu sync.Mutex
	n  int
}

func (b *Box) Early() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.n
}

// Before is listing 2.11 of the source.
func (b *Box) Before() int {
	defer b.mu.Unlock()
	b.mu.Lock()
	return b.n
}

func (b *Box) InClosure() {
	b.mu.Lock()
	defer func() {
		b.n = 0
		b.mu.Unlock()
	}()
	b.n++
}

func (b *Box) MethodValue() {
	b.mu.Lock()
	unlock := b.mu.Unlock
	defer unlock()
	b.n++
}

func (b *Box) Between(work func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.n++
	b.mu.Unlock()
	work()
	b.mu.Lock()
	b.n--
}

func (b *Box) ReturnsBefore(skip bool) {
	b.mu.Lock()
	if skip {
		return
	}
	defer b.mu.Unlock()
	b.n++
}

func (b *Box) InLoop(rounds int) {
	for range rounds {
		b.mu.Lock()
		defer b.mu.Unlock()
	}
}

func (b *Box) PanicsDeferred(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n < 0 {
		panic("negative")
	}
	b.n = n
}

func (b *Box) LocksLate() {
	b.mu.Unlock()
	defer b.mu.Lock()
	b.n = 0
}

/*
Report:

defers.(*Box).Early
  write defers.Box.mu, defer, sure lock
  lines 12 to 13 (deferred)
  7 instructions, 0 calls, 0 loops, 0 allocations, 0 map accesses, reads only: true, only counts: false
  reads defers.Box.n
defers.(*Box).Before
  write defers.Box.mu, defer, sure lock
  lines 20 to 19 (deferred)
  5 instructions, 0 calls, 0 loops, 0 allocations, 0 map accesses, reads only: true, only counts: false
  reads defers.Box.n
defers.(*Box).InClosure
  write defers.Box.mu, defer, sure lock
  lines 25 to 26 (deferred) (by defers.(*Box).InClosure.func1, line 28)
  9 instructions, 0 calls, 0 loops, 1 allocations, 0 map accesses, reads only: false, only counts: true
  reads defers.Box.n
  writes defers.Box.n
defers.(*Box).MethodValue
  write defers.Box.mu, defer, sure lock
  lines 34 to 36 (deferred)
  9 instructions, 0 calls, 0 loops, 1 allocations, 0 map accesses, reads only: false, only counts: true
  reads defers.Box.n
  writes defers.Box.n
defers.(*Box).Between
  write defers.Box.mu, dominance, sure lock
  lines 41 to 44
  8 instructions, 0 calls, 0 loops, 0 allocations, 0 map accesses, reads only: false, only counts: true
  reads defers.Box.n
  writes defers.Box.n
defers.(*Box).Between
  write defers.Box.mu, defer, sure lock
  lines 46 to 42 (deferred)
  6 instructions, 0 calls, 0 loops, 0 allocations, 0 map accesses, reads only: false, only counts: true
  reads defers.Box.n
  writes defers.Box.n
defers.(*Box).PanicsDeferred
  write defers.Box.mu, defer, sure lock
  lines 67 to 68 (deferred)
  9 instructions, 0 calls, 0 loops, 0 allocations, 0 map accesses, reads only: false, only counts: false
  writes defers.Box.n
unpaired unlock of defers.Box.mu in defers.(*Box).InClosure.func1, line 28: unlocks what its callers locked
unpaired lock of defers.Box.mu in defers.(*Box).ReturnsBefore, line 51: still locked where the function returns at line 53
unpaired unlock of defers.Box.mu in defers.(*Box).ReturnsBefore, line 55: may be reached without the lock of line 51
unpaired lock of defers.Box.mu in defers.(*Box).InLoop, line 61: a loop locks it again before it is unlocked
unpaired unlock of defers.Box.mu in defers.(*Box).InLoop, line 62: may be reached without the lock of line 61
unpaired unlock of defers.Box.mu in defers.(*Box).LocksLate, line 76: unlocks what its callers locked
unpaired lock of defers.Box.mu in defers.(*Box).LocksLate, line 77: it locks when the function returns
lock defers.Box.mu: Mutex, field, declared in line 7
*/

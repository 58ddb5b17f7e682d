// Package straight has locks and unlocks in a row.
package straight

import "sync"

type Box struct {
	mu    sync.Mutex
	other sync.Mutex
	n     int
}

func (b *Box) Add() {
	b.mu.Lock()
	b.n++
	b.mu.Unlock()
}

func (b *Box) Twice() {
	b.mu.Lock()
	b.n = 1
	b.mu.Unlock()
	b.mu.Lock()
	b.n = 2
	b.mu.Unlock()
}

func (b *Box) Nested() {
	b.mu.Lock()
	b.other.Lock()
	b.n++
	b.other.Unlock()
	b.mu.Unlock()
}

func (b *Box) Crossed() {
	b.mu.Lock()
	b.other.Lock()
	b.mu.Unlock()
	b.other.Unlock()
}

func (b *Box) WrongOne() {
	b.mu.Lock()
	b.other.Unlock()
}

var shared sync.Mutex

func Global() int {
	shared.Lock()
	defer shared.Unlock()
	return 1
}

func Local() int {
	var mu sync.Mutex
	done := make(chan int)
	go func() {
		mu.Lock()
		done <- 1
		mu.Unlock()
	}()
	mu.Lock()
	mu.Unlock()
	return <-done
}

/*
Report:

straight.(*Box).Add
  write straight.Box.mu, dominance, sure lock
  lines 13 to 15
  6 instructions, 0 calls, 0 loops, 0 allocations, 0 map accesses, reads only: false, only counts: true
  reads straight.Box.n
  writes straight.Box.n
straight.(*Box).Twice
  write straight.Box.mu, dominance, sure lock
  lines 19 to 21
  3 instructions, 0 calls, 0 loops, 0 allocations, 0 map accesses, reads only: false, only counts: false
  writes straight.Box.n
straight.(*Box).Twice
  write straight.Box.mu, dominance, sure lock
  lines 22 to 24
  3 instructions, 0 calls, 0 loops, 0 allocations, 0 map accesses, reads only: false, only counts: false
  writes straight.Box.n
straight.(*Box).Nested
  write straight.Box.mu, dominance, sure lock
  lines 28 to 32
  10 instructions, 0 calls, 0 loops, 0 allocations, 0 map accesses, reads only: false, only counts: false
  reads straight.Box.n
  writes straight.Box.n
  lock at line 29, sure: true: straight.Box.other
straight.(*Box).Nested
  write straight.Box.other, dominance, sure lock
  lines 29 to 31
  6 instructions, 0 calls, 0 loops, 0 allocations, 0 map accesses, reads only: false, only counts: true
  reads straight.Box.n
  writes straight.Box.n
straight.(*Box).Crossed
  write straight.Box.mu, dominance, sure lock
  lines 36 to 38
  3 instructions, 0 calls, 0 loops, 0 allocations, 0 map accesses, reads only: true, only counts: false
  lock at line 37, sure: true: straight.Box.other
straight.(*Box).Crossed
  write straight.Box.other, dominance, sure lock
  lines 37 to 39
  3 instructions, 0 calls, 0 loops, 0 allocations, 0 map accesses, reads only: true, only counts: false
straight.Global
  write straight.shared, defer, sure lock
  lines 50 to 51 (deferred)
  4 instructions, 0 calls, 0 loops, 0 allocations, 0 map accesses, reads only: true, only counts: false
straight.Local.func1
  write straight.Local.mu, dominance, sure lock
  lines 59 to 61
  2 instructions, 0 calls, 0 loops, 0 allocations, 0 map accesses, reads only: false, only counts: false
  reads straight.Local.done
  channel at line 60, sure: true
straight.Local
  write straight.Local.mu, dominance, sure lock
  lines 63 to 64
  0 instructions, 0 calls, 0 loops, 0 allocations, 0 map accesses, reads only: true, only counts: false
unpaired lock of straight.Box.mu in straight.(*Box).WrongOne, line 43: its callers unlock it: it is held when the function returns
unpaired unlock of straight.Box.other in straight.(*Box).WrongOne, line 44: unlocks what its callers locked
lock straight.Box.mu: Mutex, field, declared in line 7
lock straight.Box.other: Mutex, field, declared in line 8
lock straight.Local.mu: Mutex, local, declared in line 56
lock straight.shared: Mutex, global, declared in line 47
*/

// Package callee locks in functions that are called for it.
package callee

import "sync"

type Tree struct {
	mu sync.Mutex
	n  int
}

func (t *Tree) lock()   { t.mu.Lock() }
func (t *Tree) unlock() { t.mu.Unlock() }

func (t *Tree) Add() {
	t.lock()
	t.n++
	t.unlock()
}

func (t *Tree) Get() int {
	t.lock()
	defer t.unlock()
	return t.n
}

func (t *Tree) Forgets() {
	t.lock()
	t.n++
}

func lockBoth(a, b *Tree) {
	a.lock()
	b.lock()
}

func Move(a, b *Tree) {
	lockBoth(a, b)
	a.n, b.n = b.n, a.n
	b.unlock()
	a.unlock()
}

func (t *Tree) sometimes(really bool) {
	if really {
		t.mu.Lock()
	}
}

func (t *Tree) UsesSometimes() {
	t.sometimes(true)
	t.mu.Unlock()
}

func locked(mu *sync.Mutex) func() {
	mu.Lock()
	return mu.Unlock
}

func (t *Tree) Returned() {
	defer locked(&t.mu)()
	t.n++
}

/*
Report:

callee.(*Tree).Add
  write callee.Tree.mu, dominance, sure lock
  lines 15 (by callee.(*Tree).lock, line 11) to 17 (by callee.(*Tree).unlock, line 12)
  5 instructions, 0 calls, 0 loops, 0 allocations, 0 map accesses, reads only: false, only counts: true
  reads callee.Tree.n
  writes callee.Tree.n
callee.(*Tree).Get
  write callee.Tree.mu, defer, sure lock
  lines 21 (by callee.(*Tree).lock, line 11) to 22 (deferred) (by callee.(*Tree).unlock, line 12)
  6 instructions, 0 calls, 0 loops, 0 allocations, 0 map accesses, reads only: true, only counts: false
  reads callee.Tree.n
callee.Move
  write callee.Tree.mu, dominance, sure lock
  lines 37 (by callee.lockBoth, line 11) to 40 (by callee.(*Tree).unlock, line 12)
  9 instructions, 1 calls, 0 loops, 0 allocations, 0 map accesses, reads only: false, only counts: false
  reads callee.Tree.n
  writes callee.Tree.n
callee.Move
  write callee.Tree.mu, dominance, sure lock
  lines 37 (by callee.lockBoth, line 11) to 39 (by callee.(*Tree).unlock, line 12)
  8 instructions, 0 calls, 0 loops, 0 allocations, 0 map accesses, reads only: false, only counts: false
  reads callee.Tree.n
  writes callee.Tree.n
unpaired lock of callee.Tree.mu in callee.(*Tree).lock, line 11: its callers unlock it: it is held when the function returns
unpaired unlock of callee.Tree.mu in callee.(*Tree).unlock, line 12: unlocks what its callers locked
unpaired lock of callee.Tree.mu in callee.(*Tree).sometimes, line 45: no unlock of it in this function
unpaired unlock of callee.Tree.mu in callee.(*Tree).UsesSometimes, line 51: unlocks what its callers locked
unpaired lock of callee.Tree.mu in callee.locked, line 55: its callers unlock it: it is held when the function returns
lock callee.Tree.mu: Mutex, field, declared in line 7
*/

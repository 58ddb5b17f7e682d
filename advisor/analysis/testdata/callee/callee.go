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

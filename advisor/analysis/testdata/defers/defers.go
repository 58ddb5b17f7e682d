// Package defers has deferred unlocks.
package defers

import "sync"

type Box struct {
	mu sync.Mutex
	n  int
}

func (b *Box) Usual() int {
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

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

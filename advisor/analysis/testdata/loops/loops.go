// Package loops has sections in loops and loops in sections.
package loops

import "sync"

type Sum struct {
	mu    sync.Mutex
	total int
}

func (s *Sum) Inside(values []int) {
	for _, value := range values {
		s.mu.Lock()
		s.total += value
		s.mu.Unlock()
	}
}

func (s *Sum) Around(values []int) {
	s.mu.Lock()
	for _, value := range values {
		s.total += value
	}
	s.mu.Unlock()
}

func (s *Sum) Forever(values chan int) {
	for {
		value := <-values
		s.mu.Lock()
		s.total += value
		s.mu.Unlock()
	}
}

func (s *Sum) Continues(values []int) {
	for _, value := range values {
		s.mu.Lock()
		if value == 0 {
			s.mu.Unlock()
			continue
		}
		if value < 0 {
			s.mu.Unlock()
			break
		}
		s.total += value
		s.mu.Unlock()
	}
}

func (s *Sum) LocksAgain(values []int) {
	for range values {
		s.mu.Lock()
	}
	s.mu.Unlock()
}

// Released unlocks for each value and locks again: its callers hold the lock.
func (s *Sum) Released(values []int, work func(int)) {
	s.mu.Lock()
	for _, value := range values {
		s.mu.Unlock()
		work(value)
		s.mu.Lock()
	}
	s.mu.Unlock()
}

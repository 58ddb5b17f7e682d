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

/*
Report:

loops.(*Sum).Inside
  write loops.Sum.mu, dominance, sure lock
  lines 13 to 15
  6 instructions, 0 calls, 0 loops, 0 allocations, 0 map accesses, reads only: false, only counts: true
  reads loops.Sum.total
  writes loops.Sum.total
loops.(*Sum).Around
  write loops.Sum.mu, dominance, sure lock
  lines 20 to 24
  12 instructions, 0 calls, 1 loops, 0 allocations, 0 map accesses, reads only: false, only counts: false
  reads loops.(*Sum).Around.values[], loops.Sum.total
  writes loops.Sum.total
loops.(*Sum).Forever
  write loops.Sum.mu, dominance, sure lock
  lines 30 to 32
  6 instructions, 0 calls, 0 loops, 0 allocations, 0 map accesses, reads only: false, only counts: true
  reads loops.Sum.total
  writes loops.Sum.total
loops.(*Sum).Continues
  write loops.Sum.mu, paths, sure lock
  lines 38 to 40, 44, 48
  12 instructions, 0 calls, 0 loops, 0 allocations, 0 map accesses, reads only: false, only counts: true
  reads loops.Sum.total
  writes loops.Sum.total
loops.(*Sum).Released
  write loops.Sum.mu, paths, sure lock
  lines 61, 65 to 63, 67
  8 instructions, 0 calls, 1 loops, 0 allocations, 0 map accesses, reads only: true, only counts: false
  reads loops.(*Sum).Released.values[]
unpaired lock of loops.Sum.mu in loops.(*Sum).LocksAgain, line 54: a loop locks it again before it is unlocked
unpaired unlock of loops.Sum.mu in loops.(*Sum).LocksAgain, line 56: unlocks what its callers locked
lock loops.Sum.mu: Mutex, field, declared in line 7
*/

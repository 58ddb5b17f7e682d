// Package branches has sections across branches.
package branches

import (
	"errors"
	"sync"
)

type Store struct {
	mu    sync.Mutex
	items map[string]int
}

var errMissing = errors.New("missing")

func (s *Store) EarlyReturn(key string) (int, error) {
	s.mu.Lock()
	value, found := s.items[key]
	if !found {
		s.mu.Unlock()
		return 0, errMissing
	}
	s.mu.Unlock()
	return value, nil
}

func (s *Store) Forgotten(key string) error {
	s.mu.Lock()
	if _, found := s.items[key]; !found {
		return errMissing
	}
	s.mu.Unlock()
	return nil
}

// BothSides is listing 2.3 of the source: no lock dominates an unlock, and it is right.
func (s *Store) BothSides(first, second bool) {
	if first {
		s.mu.Lock()
		s.items["a"] = 1
	} else {
		s.mu.Lock()
		s.items["b"] = 1
	}
	if second {
		s.mu.Unlock()
	} else {
		s.mu.Unlock()
	}
}

// SomeTimes is listing 2.4: it may be locked, it may be unlocked.
func (s *Store) SomeTimes(first, second bool) {
	if first {
		s.mu.Lock()
	}
	s.items["a"] = 1
	if second {
		s.mu.Unlock()
	}
}

func (s *Store) Around(condition bool) {
	s.mu.Lock()
	if condition {
		s.items["a"] = 1
	} else {
		s.items["b"] = 1
	}
	s.mu.Unlock()
}

func (s *Store) Panics(value int) {
	s.mu.Lock()
	if value < 0 {
		panic("negative")
	}
	s.items["a"] = value
	s.mu.Unlock()
}

func (s *Store) Tries() bool {
	if s.mu.TryLock() {
		s.items["a"] = 1
		s.mu.Unlock()
		return true
	}
	return false
}

func (s *Store) TriesNot() bool {
	if !s.mu.TryLock() {
		return false
	}
	defer s.mu.Unlock()
	s.items["a"] = 1
	return true
}

func (s *Store) TriesForNothing() {
	s.mu.TryLock()
	s.mu.Unlock()
}

/*
Report:

branches.(*Store).EarlyReturn
  write branches.Store.mu, paths, sure lock
  lines 17 to 23, 20
  8 instructions, 0 calls, 0 loops, 0 allocations, 1 map accesses, reads only: true, only counts: false
  reads branches.Store.items
branches.(*Store).BothSides
  write branches.Store.mu, paths, sure lock
  lines 39, 42 to 46, 48
  9 instructions, 0 calls, 0 loops, 0 allocations, 2 map accesses, reads only: false, only counts: false
  reads branches.Store.items
  writes branches.Store.items
branches.(*Store).Around
  write branches.Store.mu, dominance, sure lock
  lines 64 to 70
  8 instructions, 0 calls, 0 loops, 0 allocations, 2 map accesses, reads only: false, only counts: false
  reads branches.Store.items
  writes branches.Store.items
branches.(*Store).Panics
  write branches.Store.mu, paths, sure lock
  lines 74 to 79
  8 instructions, 0 calls, 0 loops, 0 allocations, 1 map accesses, reads only: false, only counts: false
  reads branches.Store.items
  writes branches.Store.items
  panics locked at line 76
branches.(*Store).Tries
  write branches.Store.mu, paths, sure lock
  lines 83 to 85
  4 instructions, 0 calls, 0 loops, 0 allocations, 1 map accesses, reads only: false, only counts: false
  reads branches.Store.items
  writes branches.Store.items
branches.(*Store).TriesNot
  write branches.Store.mu, defer, sure lock
  lines 92 to 95 (deferred)
  8 instructions, 0 calls, 0 loops, 0 allocations, 1 map accesses, reads only: false, only counts: false
  reads branches.Store.items
  writes branches.Store.items
unpaired lock of branches.Store.mu in branches.(*Store).Forgotten, line 28: still locked where the function returns at line 30
unpaired unlock of branches.Store.mu in branches.(*Store).Forgotten, line 32: may be reached without the lock of line 28
unpaired lock of branches.Store.mu in branches.(*Store).SomeTimes, line 55: still locked where the function returns at line 61
unpaired unlock of branches.Store.mu in branches.(*Store).SomeTimes, line 59: may be reached without the lock of line 55
unpaired lock of branches.Store.mu in branches.(*Store).TriesForNothing, line 101: whether it was locked decides no branch
unpaired unlock of branches.Store.mu in branches.(*Store).TriesForNothing, line 102: no lock of it before, in this function
lock branches.Store.mu: Mutex, field, declared in line 10
*/

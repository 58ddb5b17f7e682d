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

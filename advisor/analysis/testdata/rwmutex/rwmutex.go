// Package rwmutex has readers and writers.
package rwmutex

import "sync"

type Table struct {
	mu      sync.RWMutex
	entries map[string]string
	hits    int
}

func (t *Table) Get(key string) string {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.entries[key]
}

func (t *Table) Set(key, value string) {
	t.mu.Lock()
	t.entries[key] = value
	t.mu.Unlock()
}

// Writes counts under a lock for reading: a data race that the advisor shows as a write.
func (t *Table) Writes(key string) string {
	t.mu.RLock()
	t.hits++
	value := t.entries[key]
	t.mu.RUnlock()
	return value
}

func (t *Table) Mixed(key string) string {
	t.mu.RLock()
	value := t.entries[key]
	t.mu.Unlock()
	return value
}

func (t *Table) Upgrade(key string) string {
	t.mu.RLock()
	value, found := t.entries[key]
	t.mu.RUnlock()
	if found {
		return value
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.entries[key] = "new"
	return "new"
}

func (t *Table) Reader() string {
	locker := t.mu.RLocker()
	locker.Lock()
	defer locker.Unlock()
	return t.entries[""]
}

/*
Report:

rwmutex.(*Table).Get
  read rwmutex.Table.mu, defer, sure lock
  lines 13 to 14 (deferred)
  8 instructions, 0 calls, 0 loops, 0 allocations, 1 map accesses, reads only: true, only counts: false
  reads rwmutex.Table.entries
rwmutex.(*Table).Set
  write rwmutex.Table.mu, dominance, sure lock
  lines 19 to 21
  4 instructions, 0 calls, 0 loops, 0 allocations, 1 map accesses, reads only: false, only counts: false
  reads rwmutex.Table.entries
  writes rwmutex.Table.entries
rwmutex.(*Table).Writes
  read rwmutex.Table.mu, dominance, sure lock
  lines 26 to 29
  9 instructions, 0 calls, 0 loops, 0 allocations, 1 map accesses, reads only: false, only counts: false
  reads rwmutex.Table.entries, rwmutex.Table.hits
  writes rwmutex.Table.hits
rwmutex.(*Table).Upgrade
  read rwmutex.Table.mu, dominance, sure lock
  lines 41 to 43
  6 instructions, 0 calls, 0 loops, 0 allocations, 1 map accesses, reads only: true, only counts: false
  reads rwmutex.Table.entries
rwmutex.(*Table).Upgrade
  write rwmutex.Table.mu, defer, sure lock
  lines 47 to 48 (deferred)
  8 instructions, 0 calls, 0 loops, 0 allocations, 1 map accesses, reads only: false, only counts: false
  reads rwmutex.Table.entries
  writes rwmutex.Table.entries
rwmutex.(*Table).Reader
  read rwmutex.Table.mu, defer, sure lock
  lines 55 to 56 (deferred)
  7 instructions, 0 calls, 0 loops, 0 allocations, 1 map accesses, reads only: true, only counts: false
  reads rwmutex.Table.entries
unpaired rlock of rwmutex.Table.mu in rwmutex.(*Table).Mixed, line 34: line 36 unlocks it in the other mode (reading, writing)
unpaired unlock of rwmutex.Table.mu in rwmutex.(*Table).Mixed, line 36: line 34 locks it in the other mode (reading, writing)
lock rwmutex.Table.mu: RWMutex, field, declared in line 7
*/

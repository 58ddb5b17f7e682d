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

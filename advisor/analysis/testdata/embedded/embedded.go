// Package embedded has embedded mutexes.
package embedded

import "sync"

type Counter struct {
	sync.Mutex
	n int64
}

func (c *Counter) Add(delta int64) {
	c.Lock()
	c.n += delta
	c.Unlock()
}

type Shared struct {
	*sync.RWMutex
	value int
}

func (s Shared) Value() int {
	s.RLock()
	defer s.RUnlock()
	return s.value
}

type Outer struct {
	Counter
	name string
}

func (o *Outer) Rename(name string) {
	o.Lock()
	defer o.Unlock()
	o.name = name
}

var registry struct {
	sync.Mutex
	names []string
}

func Register(name string) {
	registry.Lock()
	registry.names = append(registry.names, name)
	registry.Unlock()
}

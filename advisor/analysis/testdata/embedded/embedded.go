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

/*
Report:

embedded.(*Counter).Add
  write embedded.Counter.Mutex, dominance, sure lock
  lines 12 to 14
  6 instructions, 0 calls, 0 loops, 0 allocations, 0 map accesses, reads only: false, only counts: true
  reads embedded.Counter.n
  writes embedded.Counter.n
embedded.(Shared).Value
  read embedded.Shared.RWMutex, defer, sure lock
  lines 23 to 24 (deferred)
  8 instructions, 0 calls, 0 loops, 0 allocations, 0 map accesses, reads only: true, only counts: false
embedded.(*Outer).Rename
  write embedded.Counter.Mutex, defer, sure lock
  lines 34 to 35 (deferred)
  6 instructions, 0 calls, 0 loops, 0 allocations, 0 map accesses, reads only: false, only counts: false
  writes embedded.Outer.name
embedded.Register
  write embedded.registry.Mutex, dominance, sure lock
  lines 45 to 47
  10 instructions, 0 calls, 0 loops, 1 allocations, 0 map accesses, reads only: false, only counts: false
  reads embedded.registry.names
  writes embedded.registry.names
lock embedded.Counter.Mutex: Mutex, field, declared in line 7
lock embedded.Shared.RWMutex: RWMutex, field
lock embedded.registry.Mutex: Mutex, field, declared in line 40
*/

// Package alias reaches locks through pointers.
package alias

import "sync"

type Node struct {
	mu   sync.Mutex
	next *Node
	n    int
}

func Pointer(node *Node) {
	mu := &node.mu
	mu.Lock()
	node.n++
	node.mu.Unlock()
}

func Copy(node *Node) {
	same := node
	node.mu.Lock()
	same.n++
	same.mu.Unlock()
}

func Either(a, b *Node, first bool) {
	mu := &a.mu
	if !first {
		mu = &b.mu
	}
	mu.Lock()
	a.n++
	mu.Unlock()
}

func Next(node *Node) {
	node.next.mu.Lock()
	node.next.n++
	node.next.mu.Unlock()
}

func Other(a, b *Node) {
	a.mu.Lock()
	defer b.mu.Unlock()
}

type Shards struct {
	locks [8]sync.Mutex
	parts []struct {
		mu sync.RWMutex
		n  int
	}
}

func (s *Shards) Element(i int) {
	s.locks[i].Lock()
	s.locks[i].Unlock()
}

func (s *Shards) Part(i int) int {
	part := &s.parts[i]
	part.mu.RLock()
	defer part.mu.RUnlock()
	return part.n
}

func (s *Shards) Of(key string) *sync.Mutex {
	return &s.locks[len(key)%len(s.locks)]
}

func (s *Shards) Result(key string) {
	s.Of(key).Lock()
	s.Of(key).Unlock()
}

type Guard struct {
	lock *sync.Mutex
}

func NewGuard(node *Node) *Guard { return &Guard{lock: &node.mu} }

func (g *Guard) Do() {
	g.lock.Lock()
	defer g.lock.Unlock()
}

func With(locker sync.Locker, work func()) {
	locker.Lock()
	defer locker.Unlock()
	work()
}

func UsesWith(node *Node) {
	With(&node.mu, func() { node.n++ })
}

func Parameter(mu *sync.Mutex) {
	mu.Lock()
	mu.Unlock()
}

func UsesParameter(node *Node) { Parameter(&node.mu) }

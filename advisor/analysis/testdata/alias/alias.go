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

/*
Report:

alias.Pointer
  write alias.Node.mu, dominance, sure lock
  lines 14 to 16
  6 instructions, 0 calls, 0 loops, 0 allocations, 0 map accesses, reads only: false, only counts: true
  reads alias.Node.n
  writes alias.Node.n
alias.Copy
  write alias.Node.mu, dominance, sure lock
  lines 21 to 23
  6 instructions, 0 calls, 0 loops, 0 allocations, 0 map accesses, reads only: false, only counts: true
  reads alias.Node.n
  writes alias.Node.n
alias.Either
  write alias.Node.mu, dominance, sure lock
  lines 31 to 33
  5 instructions, 0 calls, 0 loops, 0 allocations, 0 map accesses, reads only: false, only counts: true
  reads alias.Node.n
  writes alias.Node.n
alias.Next
  write alias.Node.mu, dominance, sure lock
  lines 37 to 39
  10 instructions, 0 calls, 0 loops, 0 allocations, 0 map accesses, reads only: false, only counts: true
  reads alias.Node.n, alias.Node.next
  writes alias.Node.n
alias.Other
  write alias.Node.mu, defer, may lock
  lines 43 to 44 (deferred)
  3 instructions, 0 calls, 0 loops, 0 allocations, 0 map accesses, reads only: true, only counts: false
alias.(*Shards).Element
  write alias.Shards.locks[], dominance, sure lock
  lines 56 to 57
  2 instructions, 0 calls, 0 loops, 0 allocations, 0 map accesses, reads only: true, only counts: false
alias.(*Shards).Part
  read alias.Shards.parts[].mu, defer, sure lock
  lines 62 to 63 (deferred)
  7 instructions, 0 calls, 0 loops, 0 allocations, 0 map accesses, reads only: true, only counts: false
  reads alias.Shards.parts[].n
alias.(*Shards).Result
  write alias.Shards.locks[], dominance, may lock
  lines 72 to 73
  1 instructions, 1 calls, 0 loops, 0 allocations, 0 map accesses, reads only: true, only counts: false
alias.(*Guard).Do
  write alias.Node.mu, defer, sure lock
  lines 83 to 84 (deferred)
  4 instructions, 0 calls, 0 loops, 0 allocations, 0 map accesses, reads only: true, only counts: false
  reads alias.Guard.lock
alias.With
  write alias.Node.mu, defer, sure lock
  lines 88 to 89 (deferred)
  3 instructions, 1 calls, 0 loops, 0 allocations, 0 map accesses, reads only: false, only counts: false
  writes alias.Node.n
alias.Parameter
  write alias.Node.mu, dominance, sure lock
  lines 98 to 99
  0 instructions, 0 calls, 0 loops, 0 allocations, 0 map accesses, reads only: true, only counts: false
lock alias.Node.mu: Mutex, field, declared in line 7
lock alias.Shards.locks[]: Mutex, element, declared in line 48
lock alias.Shards.parts[].mu: RWMutex, field, declared in line 50
*/

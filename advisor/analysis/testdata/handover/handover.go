// Package handover locks hand over hand, as listing 2.7 of the source.
package handover

import "sync"

type Node struct {
	mu   sync.Mutex
	next *Node
	key  int
}

func Pair(a, b *Node) {
	a.mu.Lock()
	b.mu.Lock()
	a.mu.Unlock()
	b.mu.Unlock()
}

func (n *Node) Find(key int) *Node {
	n.mu.Lock()
	for n.key != key && n.next != nil {
		next := n.next
		next.mu.Lock()
		n.mu.Unlock()
		n = next
	}
	n.mu.Unlock()
	return n
}

/*
Report:

handover.Pair
  write handover.Node.mu, dominance, sure lock
  lines 13 to 15
  3 instructions, 0 calls, 0 loops, 0 allocations, 0 map accesses, reads only: true, only counts: false
  same-lock at line 14, sure: true: handover.Node.mu
handover.Pair
  write handover.Node.mu, dominance, sure lock
  lines 14 to 16
  3 instructions, 0 calls, 0 loops, 0 allocations, 0 map accesses, reads only: true, only counts: false
handover.(*Node).Find
  write handover.Node.mu, paths, may lock
  lines 20, 23 to 24, 27
  14 instructions, 0 calls, 0 loops, 0 allocations, 0 map accesses, reads only: true, only counts: false
  reads handover.Node.key, handover.Node.next
lock handover.Node.mu: Mutex, field, declared in line 7
*/

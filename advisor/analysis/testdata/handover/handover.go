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

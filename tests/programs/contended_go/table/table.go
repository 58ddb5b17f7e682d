// Package table has locks that are waited for in known measure.
package table

import (
	"sync"
	"time"
)

// Hold is how long a section holds its lock.
const Hold = 2 * time.Millisecond

// A Table holds its lock while it sleeps, so that whoever uses it waits.
type Table struct {
	slow  sync.Mutex
	rows  map[string]int
	plain sync.Mutex
	total int
	quiet sync.Mutex
	name  string
}

func New() *Table { return &Table{rows: map[string]int{}} }

// Put is used by three goroutines that do nothing else: at any time, two of them wait.
func (t *Table) Put(key string) {
	t.slow.Lock()
	defer t.slow.Unlock()
	time.Sleep(Hold)
	t.rows[key]++
}

// Look is used by two goroutines that do nothing else: one of them waits.
func (t *Table) Look() int {
	t.lockPlain()
	total := t.total
	for deadline := time.Now().Add(Hold); time.Now().Before(deadline); {
	}
	t.unlockPlain()
	return total
}

func (t *Table) lockPlain()   { t.plain.Lock() }
func (t *Table) unlockPlain() { t.plain.Unlock() }

// Name is used by one goroutine: nobody waits.
func (t *Table) Name() string {
	t.quiet.Lock()
	defer t.quiet.Unlock()
	return t.name
}

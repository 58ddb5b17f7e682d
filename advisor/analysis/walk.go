package analysis

import (
	"golang.org/x/tools/go/ssa"
)

// A walk is what lies on all ways from a lock operation to where the lock is released.
type walk struct {
	unlocks []*operation
	// open lists where the function returns and the lock is still held.
	open []ssa.Instruction
	// panics lists explicit panics that leave it locked.
	panics []ssa.Instruction
	// again is an operation that locks it a second time on the way.
	again *operation
	// passed holds the instructions on the way.
	passed map[ssa.Instruction]bool
}

// A walker goes through one function.
type walker struct {
	operations map[ssa.Instruction][]*operation
	releases   func(lock, unlock *operation) bool
}

type step struct {
	block   *ssa.BasicBlock
	covered bool
}

// from follows all ways from a lock operation; covered is a deferred unlock, if there is one
// already.
func (w *walker) from(lock *operation, covered *operation) walk {
	found := walk{passed: map[ssa.Instruction]bool{}}
	start, ok := lock.begins()
	if !ok {
		return found
	}
	seen := map[step]bool{}
	var visit func(block *ssa.BasicBlock, index int, covered *operation)
	visit = func(block *ssa.BasicBlock, index int, covered *operation) {
		if index == 0 {
			key := step{block, covered != nil}
			if seen[key] {
				return
			}
			seen[key] = true
		}
		for _, instruction := range block.Instrs[index:] {
			for _, one := range w.operations[instruction] {
				if !one.lock && w.releases(lock, one) {
					if one.deferred {
						covered = one
						continue
					}
					found.add(one)
					return
				}
				if one.lock && !one.deferred && one.isSame(lock) && !(one.read && lock.read) {
					found.again = one
					return
				}
			}
			found.passed[instruction] = true
			switch instruction.(type) {
			case *ssa.Return:
				if covered != nil {
					found.add(covered)
				} else {
					found.open = append(found.open, instruction)
				}
			case *ssa.Panic:
				if covered != nil {
					found.add(covered)
				} else {
					found.panics = append(found.panics, instruction)
				}
			}
		}
		for _, next := range block.Succs {
			visit(next, 0, covered)
		}
	}
	visit(start.block, start.index, covered)
	return found
}

func (w *walk) add(unlock *operation) {
	for _, known := range w.unlocks {
		if known == unlock {
			return
		}
	}
	w.unlocks = append(w.unlocks, unlock)
}

// back says whether an unlock operation can be reached from the function's start without one of
// these locks.
func (w *walker) back(unlock *operation, locks []*operation) bool {
	seen := map[*ssa.BasicBlock]bool{}
	var visit func(block *ssa.BasicBlock, index int) bool
	visit = func(block *ssa.BasicBlock, index int) bool {
		for i := index; i >= 0; i-- {
			for _, lock := range locks {
				start, _ := lock.begins()
				if start == (point{block, i}) || lock.at == (point{block, i}) && !lock.try {
					return false
				}
			}
		}
		if len(block.Preds) == 0 {
			return true
		}
		for _, before := range block.Preds {
			if !seen[before] {
				seen[before] = true
				if visit(before, len(before.Instrs)-1) {
					return true
				}
			}
		}
		return false
	}
	return visit(unlock.at.block, unlock.at.index)
}

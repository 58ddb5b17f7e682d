package analysis

import (
	"golang.org/x/tools/go/ssa"
)

// A point is a place in a function: an instruction of a block.
type point struct {
	block *ssa.BasicBlock
	index int
}

func pointOf(instruction ssa.Instruction) point {
	for i, other := range instruction.Block().Instrs {
		if other == instruction {
			return point{instruction.Block(), i}
		}
	}
	panic("an instruction that is not in its block")
}

// dominates reports whether every way from the function's entry to b passes a.
func (a point) dominates(b point) bool {
	if a.block == b.block {
		return a.index <= b.index
	}
	return a.block.Dominates(b.block)
}

// postDominators knows which blocks every way to the function's end passes. Ends are returns and
// panics. A loop without end counts as if it could end at each of its jumps backwards: what is in
// it is then compared with what its next round passes.
type postDominators struct {
	after []map[int]bool
}

func newPostDominators(function *ssa.Function) postDominators {
	blocks := function.Blocks
	ends := make([]bool, len(blocks))
	reaches := make([]bool, len(blocks))
	for i, block := range blocks {
		ends[i] = len(block.Succs) == 0
		reaches[i] = ends[i]
	}
	spread(blocks, reaches)
	for i, block := range blocks {
		for _, next := range block.Succs {
			if !reaches[i] && next.Dominates(block) {
				ends[i] = true
			}
		}
	}
	all := make(map[int]bool, len(blocks))
	for i := range blocks {
		all[i] = true
	}
	after := make([]map[int]bool, len(blocks))
	for i := range blocks {
		after[i] = all
	}
	for changed := true; changed; {
		changed = false
		for i := len(blocks) - 1; i >= 0; i-- {
			met := meet(blocks[i], ends[i], after)
			met[i] = true
			if len(met) != len(after[i]) {
				after[i] = met
				changed = true
			}
		}
	}
	return postDominators{after}
}

// spread marks all blocks from which a marked one can be reached.
func spread(blocks []*ssa.BasicBlock, marked []bool) {
	for changed := true; changed; {
		changed = false
		for i, block := range blocks {
			for _, next := range block.Succs {
				if marked[next.Index] && !marked[i] {
					marked[i] = true
					changed = true
				}
			}
		}
	}
}

// meet returns the blocks common to all ways on from a block; none if the function may end there.
func meet(block *ssa.BasicBlock, end bool, after []map[int]bool) map[int]bool {
	met := map[int]bool{}
	if end {
		return met
	}
	for index := range after[block.Succs[0].Index] {
		met[index] = true
	}
	for _, next := range block.Succs[1:] {
		for index := range met {
			if !after[next.Index][index] {
				delete(met, index)
			}
		}
	}
	return met
}

// postDominates reports whether every way from b to the function's end passes a.
func (p postDominators) postDominates(a, b point) bool {
	if a.block == b.block {
		return a.index >= b.index
	}
	return p.after[b.block.Index][a.block.Index]
}

// A walk is what lies on all ways from a lock operation to where the lock is released.
type walk struct {
	unlocks []*operation
	// open lists returns of the function that still hold the lock.
	open []ssa.Instruction
	// panics lists explicit panics that leave the lock held.
	panics []ssa.Instruction
	// again is an operation that locks the same lock a second time on the way.
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

// back reports whether an unlock operation can be reached from the function's start without one of
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

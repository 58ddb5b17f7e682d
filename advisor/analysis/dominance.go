package analysis

import "golang.org/x/tools/go/ssa"

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

// dominates says whether every way from the function's entry to b passes a.
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

// meet is what all ways on from a block have in common; nothing if the function may end there.
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

// postDominates says whether every way from b to the function's end passes a.
func (p postDominators) postDominates(a, b point) bool {
	if a.block == b.block {
		return a.index >= b.index
	}
	return p.after[b.block.Index][a.block.Index]
}

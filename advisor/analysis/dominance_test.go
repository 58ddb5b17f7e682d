package analysis

import (
	"testing"

	"golang.org/x/tools/go/ssa"
)

// ends says whether a function's end can be reached from a block without passing another: what
// post-dominance means, by search.
func ends(from, without *ssa.BasicBlock, seen map[*ssa.BasicBlock]bool) bool {
	if from == without || seen[from] {
		return false
	}
	seen[from] = true
	if len(from.Succs) == 0 {
		return true
	}
	for _, next := range from.Succs {
		if ends(next, without, seen) {
			return true
		}
	}
	return false
}

func TestPostDominatorsAreWhatNoWayToTheEndAvoids(t *testing.T) {
	program := loadCases(t)
	pairs := 0
	for _, function := range program.functions {
		after := newPostDominators(function)
		for _, a := range function.Blocks {
			for _, b := range function.Blocks {
				if !ends(b, nil, map[*ssa.BasicBlock]bool{}) {
					continue // A loop without end is defined by its jumps backwards.
				}
				wanted := !ends(b, a, map[*ssa.BasicBlock]bool{})
				if found := after.postDominates(point{a, 0}, point{b, 0}); a != b && found != wanted {
					t.Errorf("%s: block %d after %d: %t, not %t", function, a.Index, b.Index, found, wanted)
				}
				pairs++
			}
		}
	}
	if pairs < 500 {
		t.Errorf("only %d pairs of blocks", pairs)
	}
}

// A pair by the rule of dominance has to be one by the definition of ways, and the other way round
// for a lock and an unlock alone without a panic between.
func TestRulesAgree(t *testing.T) {
	program := loadCases(t)
	for _, function := range program.functions {
		after := newPostDominators(function)
		for _, section := range program.summaryOf(function).sections {
			lock, unlock := section.locks[0], section.unlocks[0]
			both := lock.at.dominates(unlock.at) && after.postDominates(unlock.at, lock.at)
			alone := len(section.locks) == 1 && len(section.unlocks) == 1
			plain := alone && !unlock.deferred && !lock.try && len(section.panics) == 0
			if plain != (section.rule == "dominance") || plain && !both {
				t.Errorf("%s: rule %s, alone %t, dominance %t", function, section.rule, alone, both)
			}
		}
	}
}

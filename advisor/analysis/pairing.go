package analysis

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// A section is a critical section of one function: all that runs between its locks and unlocks.
type section struct {
	function *ssa.Function
	locks    []*operation
	unlocks  []*operation
	passed   map[ssa.Instruction]bool
	panics   []ssa.Instruction
	// rule is the rule that matched lock and unlock: see Section.Rule.
	rule string
}

// unpaired is an operation without its counterpart, and why.
type unpaired struct {
	function  *ssa.Function
	operation *operation
	reason    string
	forCaller bool
}

// A summary lists the lock operations of a function.
type summary struct {
	sections []*section
	unpaired []*unpaired
	// forCaller are operations that every call of it does and does not undo.
	forCaller []*operation
}

// summaryOf pairs the operations of a function, those of functions that it calls before.
func (p *program) summaryOf(function *ssa.Function) *summary {
	if known := p.summaries[function]; known != nil {
		return known
	}
	made := &summary{}
	p.summaries[function] = made // A recursive function is unknown until its own summary is done.
	operations := p.operationsOf(function)
	if len(operations) == 0 {
		return made
	}
	pairing := &pairing{program: p, function: function, operations: operations, summary: made}
	pairing.match((*operation).isSame)
	pairing.match((*operation).mayBeSame)
	pairing.explain()
	return made
}

type pairing struct {
	program    *program
	function   *ssa.Function
	operations []*operation
	used       map[*operation]bool
	summary    *summary
	walks      map[*operation]walk
}

// match makes sections of operations that are not in one; `same` says which are at one lock.
func (m *pairing) match(same func(lock, unlock *operation) bool) {
	if m.used == nil {
		m.used = map[*operation]bool{}
	}
	m.walks = map[*operation]walk{}
	walker := &walker{operations: map[ssa.Instruction][]*operation{}}
	for _, one := range m.operations {
		if !m.used[one] || one.lock {
			walker.operations[one.instruction] = append(walker.operations[one.instruction], one)
		}
	}
	walker.releases = func(lock, unlock *operation) bool {
		return lock.sameMode(unlock) && same(lock, unlock)
	}
	groups := m.groups(walker)
	for _, group := range groups {
		if made := m.section(walker, group); made != nil {
			m.summary.sections = append(m.summary.sections, made)
			for _, one := range slices.Concat(made.locks, made.unlocks) {
				m.used[one] = true
			}
		}
	}
}

// groups puts locks together that reach an unlock in common.
func (m *pairing) groups(walker *walker) [][]*operation {
	var groups [][]*operation
	for _, lock := range m.operations {
		if !lock.lock || lock.deferred || m.used[lock] {
			continue
		}
		found := walker.from(lock, m.coveredBy(lock, walker))
		m.walks[lock] = found
		if len(found.unlocks) == 0 {
			continue
		}
		group := []*operation{lock}
		groups = slices.DeleteFunc(groups, func(other []*operation) bool {
			shared := slices.ContainsFunc(other, func(one *operation) bool {
				return slices.ContainsFunc(m.walks[one].unlocks, func(unlock *operation) bool {
					return !unlock.deferred && slices.Contains(found.unlocks, unlock)
				})
			})
			if shared {
				group = append(slices.Clone(other), group...)
			}
			return shared
		})
		groups = append(groups, group)
	}
	return groups
}

// coveredBy is a deferred unlock that stands before the lock operation.
func (m *pairing) coveredBy(lock *operation, walker *walker) *operation {
	for _, one := range m.operations {
		if !one.lock && one.deferred && !m.used[one] && one.at.dominates(lock.at) && walker.releases(lock, one) {
			return one
		}
	}
	return nil
}

func (m *pairing) section(walker *walker, locks []*operation) *section {
	made := &section{function: m.function, locks: locks, passed: map[ssa.Instruction]bool{}}
	for _, lock := range locks {
		found := m.walks[lock]
		if len(found.open) > 0 || found.again != nil {
			return nil
		}
		for instruction := range found.passed {
			made.passed[instruction] = true
		}
		for _, unlock := range found.unlocks {
			if !slices.Contains(made.unlocks, unlock) {
				made.unlocks = append(made.unlocks, unlock)
			}
		}
		made.panics = append(made.panics, found.panics...)
	}
	for _, unlock := range made.unlocks {
		if !unlock.deferred && walker.back(unlock, locks) {
			return nil
		}
	}
	made.rule = m.rule(made)
	return made
}

// rule is dominance where one lock dominates one unlock that post-dominates it, as a textbook has
// it; a deferred unlock stands at the function's end, which post-dominates everything.
func (m *pairing) rule(made *section) string {
	if slices.ContainsFunc(made.unlocks, func(one *operation) bool { return one.deferred }) {
		return "defer"
	}
	lock, unlock := made.locks[0], made.unlocks[0]
	if len(made.locks) == 1 && len(made.unlocks) == 1 && lock.at.dominates(unlock.at) &&
		newPostDominators(m.function).postDominates(unlock.at, lock.at) {
		return "dominance"
	}
	return "paths"
}

// explain returns the reason for each operation that is in no section.
func (m *pairing) explain() {
	after := newPostDominators(m.function)
	entry := point{m.function.Blocks[0], 0}
	for _, one := range m.operations {
		if m.used[one] {
			continue
		}
		locksLate := one.lock && one.deferred
		always := after.postDominates(one.at, entry) && !one.try && !locksLate
		left := &unpaired{function: m.function, operation: one, reason: m.reason(one)}
		left.forCaller = always && m.isAlone(one) && isFromOutside(one.path.root)
		if left.forCaller {
			m.summary.forCaller = append(m.summary.forCaller, one)
			left.reason = "unlocks what its callers locked"
			if one.lock {
				left.reason = "its callers unlock it: it is held when the function returns"
			}
		}
		m.summary.unpaired = append(m.summary.unpaired, left)
	}
}

// isAlone reports whether no way through the function does the opposite to the same lock after it (of
// a lock operation) or before it (of an unlock).
func (m *pairing) isAlone(one *operation) bool {
	if one.lock {
		found := m.walks[one]
		return len(found.unlocks) == 0 && found.again == nil && m.otherMode(one) == nil
	}
	return m.otherMode(one) == nil && !slices.ContainsFunc(m.operations, func(other *operation) bool {
		return other.lock && other.isSame(one) && other.at.dominates(one.at) && !m.used[other]
	})
}

func isFromOutside(root ssa.Value) bool {
	switch root.(type) {
	case *ssa.Parameter, *ssa.FreeVar, *ssa.Global:
		return true
	}
	return false
}

func (m *pairing) reason(one *operation) string {
	if !one.lock {
		return m.unlockReason(one)
	}
	if one.deferred {
		return "it locks when the function returns"
	}
	if _, ok := one.begins(); !ok {
		return "whether it was locked decides no branch"
	}
	found := m.walks[one]
	switch {
	case found.again == one:
		return "a loop locks it again before it is unlocked"
	case found.again != nil:
		return fmt.Sprintf("locked again at line %d before it is unlocked", m.line(found.again.instruction))
	case len(found.unlocks) > 0 && len(found.open) > 0:
		return "still locked where the function returns at " + m.lines(found.open)
	case len(found.unlocks) > 0:
		return fmt.Sprintf("line %d unlocks it, but may be reached without this lock", m.line(found.unlocks[0].instruction))
	case len(found.open) == 0 && len(found.panics) == 0:
		return "the function never returns and does not unlock it"
	}
	if other := m.otherMode(one); other != nil {
		return fmt.Sprintf("line %d unlocks it in the other mode (reading, writing)", m.line(other.instruction))
	}
	return "no unlock of it in this function"
}

// otherMode is the counterpart of an operation that reads where this one writes, or the reverse.
func (m *pairing) otherMode(one *operation) *operation {
	for _, other := range m.operations {
		if other.lock != one.lock && other.isSame(one) && !other.sameMode(one) && !m.used[other] {
			return other
		}
	}
	return nil
}

func (m *pairing) unlockReason(unlock *operation) string {
	if other := m.otherMode(unlock); other != nil {
		return fmt.Sprintf("line %d locks it in the other mode (reading, writing)", m.line(other.instruction))
	}
	for _, one := range m.operations {
		if one.lock && slices.Contains(m.walks[one].unlocks, unlock) {
			return fmt.Sprintf("may be reached without the lock of line %d", m.line(one.instruction))
		}
	}
	return "no lock of it before, in this function"
}

func (m *pairing) line(instruction ssa.Instruction) int {
	return m.program.placeOf(instruction).Line
}

func (m *pairing) lines(instructions []ssa.Instruction) string {
	var numbers []int
	for _, one := range instructions {
		numbers = append(numbers, m.line(one))
	}
	slices.Sort(numbers)
	var words []string
	for _, number := range slices.Compact(numbers) {
		words = append(words, fmt.Sprint(number))
	}
	return "line " + strings.Join(words, ", ")
}

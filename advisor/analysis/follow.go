package analysis

import (
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// A visit is a function on the way from a critical section, and how it was reached.
type visit struct {
	function *ssa.Function
	from     *visit
	sure     bool
	// place is where the section calls the first function of the way.
	place Place
}

func (v *visit) chain() []string {
	var names []string
	for one := v; one != nil; one = one.from {
		names = append(names, fullName(one.function))
	}
	slices.Reverse(names)
	return names
}

// follow looks at all that the section's instructions do and call.
func (c *contents) follow(passed []ssa.Instruction) {
	var queue []*visit
	seen := map[*ssa.Function]bool{}
	reach := func(call ssa.CallInstruction, from *visit) {
		queue = append(queue, c.targets(call, from, seen)...)
	}
	for _, instruction := range passed {
		c.look(instruction, nil)
		if call, ok := instruction.(ssa.CallInstruction); ok && !c.isOperation(instruction) {
			reach(call, nil)
		}
	}
	for len(queue) > 0 && len(seen) < mostFunctions {
		next := queue[0]
		queue = queue[1:]
		for _, block := range next.function.Blocks {
			for _, instruction := range block.Instrs {
				c.look(instruction, next)
				if call, ok := instruction.(ssa.CallInstruction); ok {
					reach(call, next)
				}
			}
		}
	}
	if len(queue) > 0 {
		c.add("unknown", c.section.locks[0].instruction, nil, "too many functions", false)
	}
}

// targets are the functions that a call reaches and that are looked into next.
func (c *contents) targets(call ssa.CallInstruction, from *visit, seen map[*ssa.Function]bool) []*visit {
	if _, concurrent := call.(*ssa.Go); concurrent {
		return nil
	}
	name := calledName(call.Common())
	if kind := waitOf(name); kind != "" {
		c.add(kind, call, from, name, from == nil || from.sure)
		return nil
	}
	if strings.HasPrefix(name, "sync/atomic.") || strings.HasPrefix(name, "(*sync/atomic.") {
		c.addAtomic(name, call)
		return nil
	}
	if _, _, lock := syncMethod(call.Common()); lock != nil {
		c.addLock(call, from, lock)
		return nil
	}
	targets, sure, known := c.program.calls.of(call)
	inStandard := from != nil && !c.program.own[from.function]
	if !known && !inStandard {
		c.add("unknown", call, from, name, false)
	}
	var found []*visit
	for _, target := range targets {
		if seen[target] || isPure(target) || c.program.isRuntime(target) {
			continue
		}
		seen[target] = true
		next := &visit{function: target, from: from, sure: sure && (from == nil || from.sure)}
		next.place = c.program.placeOf(call)
		if from != nil {
			next.place = from.place
		}
		found = append(found, next)
	}
	return found
}

func (p *program) isRuntime(function *ssa.Function) bool {
	if function.Pkg == nil {
		return false
	}
	path := function.Pkg.Pkg.Path()
	return path == "runtime" || strings.HasPrefix(path, "internal/runtime/") || path == "sync" ||
		path == "internal/sync" || path == "internal/race" || path == "reflect"
}

// look adds what an instruction does besides calling.
func (c *contents) look(instruction ssa.Instruction, from *visit) {
	own := from == nil || c.program.own[from.function]
	switch instruction.(type) {
	case *ssa.Send, *ssa.Select:
		c.add("channel", instruction, from, "", from == nil || from.sure)
	case *ssa.UnOp:
		if isReceive(instruction) {
			c.add("channel", instruction, from, "", from == nil || from.sure)
		}
	case *ssa.Go:
		c.add("goroutine", instruction, from, "", from == nil || from.sure)
	}
	for _, name := range c.program.written(instruction, own) {
		c.writes[name] = true
	}
}

func (c *contents) add(what string, instruction ssa.Instruction, from *visit, last string, sure bool) {
	effect := Effect{What: what, Place: c.program.placeOf(instruction), Chain: []string{}, Sure: sure}
	if from != nil {
		effect.Place, effect.Chain = from.place, from.chain()
	}
	if last != "" {
		effect.Chain = append(effect.Chain, last)
	}
	for _, known := range c.effects {
		if known.What == what && known.Place == effect.Place && (known.Sure || !sure) {
			return
		}
	}
	c.effects = append(c.effects, effect)
}

func (c *contents) addAtomic(name string, call ssa.CallInstruction) {
	if strings.Contains(name, "Load") {
		return
	}
	arguments := call.Common().Args
	if len(arguments) > 0 {
		for _, object := range c.program.points.of(arguments[0]) {
			c.writes[object] = true
		}
	}
}

// addLock adds a lock operation inside the section.
func (c *contents) addLock(call ssa.CallInstruction, from *visit, receiver ssa.Value) {
	name, _, _ := syncMethod(call.Common())
	if !methods[name].lock {
		return
	}
	objects := c.program.points.of(receiver)
	what := "lock"
	if slices.ContainsFunc(c.section.locks[0].objects, func(name string) bool { return slices.Contains(objects, name) }) {
		what = "same-lock"
	}
	c.add(what, call, from, strings.Join(objects, " or "), from == nil || from.sure)
}

package analysis

import (
	"go/token"
	"go/types"
	"slices"
	"sort"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// An Effect is an action in a critical section that makes it long, or changes the guarded data.
type Effect struct {
	// Kind: io, sleep, wait, channel, goroutine, lock (another one), same-lock (perhaps the same
	// object, a self-deadlock) or unknown.
	What  string `json:"what"`
	Place Place  `json:"place"`
	// Chain lists the functions from the section to the effect; empty if it stands in the section.
	Chain []string `json:"chain"`
	// Sure is false where a call through an interface or a function value is on the way.
	Sure bool `json:"sure"`
}

// contents is the summary of the actions in a critical section.
type contents struct {
	program      *program
	section      *section
	instructions int
	calls        int
	loops        int
	allocations  int
	effects      []Effect
	reads        map[string]bool
	writes       map[string]bool
	maps         int
	plainWrites  int
	additions    int
}

// mostFunctions is the maximum number of functions followed from one section.
const mostFunctions = 5000

func (p *program) contentsOf(section *section) *contents {
	c := &contents{
		program: p, section: section,
		reads: map[string]bool{}, writes: map[string]bool{},
	}
	var passed []ssa.Instruction
	for _, block := range section.function.Blocks {
		for _, instruction := range block.Instrs {
			if section.passed[instruction] {
				passed = append(passed, instruction)
			}
		}
	}
	c.loops = c.countLoops()
	for _, instruction := range passed {
		c.count(instruction)
	}
	c.follow(passed)
	return c
}

// countLoops counts backward jumps within the section.
func (c *contents) countLoops() int {
	loops := 0
	for _, block := range c.section.function.Blocks {
		if !c.section.passed[block.Instrs[len(block.Instrs)-1]] {
			continue
		}
		for _, next := range block.Succs {
			if next.Dominates(block) && c.section.passed[next.Instrs[0]] && c.isWithin(next) {
				loops++
			}
		}
	}
	return loops
}

// isWithin reports whether a block lies behind one of the section's locks, not around it.
func (c *contents) isWithin(block *ssa.BasicBlock) bool {
	return slices.ContainsFunc(c.section.locks, func(lock *operation) bool {
		return lock.at.block != block && lock.at.block.Dominates(block)
	})
}

func (c *contents) count(instruction ssa.Instruction) {
	switch i := instruction.(type) {
	case *ssa.DebugRef, *ssa.Phi, *ssa.RunDefers, *ssa.Jump:
		return
	case *ssa.Defer, *ssa.Go:
	case ssa.CallInstruction:
		_, builtin := i.Common().Value.(*ssa.Builtin)
		_, _, lock := syncMethod(i.Common())
		if !builtin && lock == nil && !c.isOperation(instruction) {
			c.calls++
		}
	case *ssa.Alloc:
		if i.Heap {
			c.allocations++
		}
	case *ssa.MakeMap, *ssa.MakeSlice, *ssa.MakeChan, *ssa.MakeClosure:
		c.allocations++
	case *ssa.UnOp:
		if i.Op == token.MUL {
			c.addRead(i.X)
		}
	case *ssa.Lookup:
		if _, isMap := i.X.Type().Underlying().(*types.Map); isMap {
			c.maps++
		}
	case *ssa.Range:
		if _, isMap := i.X.Type().Underlying().(*types.Map); isMap {
			c.maps++
		}
	case *ssa.MapUpdate:
		c.maps++
	case *ssa.Store:
		if isShared(i.Addr) {
			c.plainWrites++
			if isAddition(i) {
				c.additions++
			}
		}
	}
	c.instructions++
}

func (c *contents) isOperation(instruction ssa.Instruction) bool {
	return slices.ContainsFunc(slices.Concat(c.section.locks, c.section.unlocks), func(one *operation) bool {
		return one.instruction == instruction
	})
}

func (c *contents) addRead(address ssa.Value) {
	if isShared(address) && !holdsLock(address.Type()) {
		for _, name := range c.program.points.of(address) {
			c.reads[name] = true
		}
	}
}

// isAddition reports whether a store is x += y of a whole number.
func isAddition(store *ssa.Store) bool {
	sum, ok := store.Val.(*ssa.BinOp)
	if !ok || sum.Op != token.ADD && sum.Op != token.SUB {
		return false
	}
	basic, ok := sum.Type().Underlying().(*types.Basic)
	if !ok || basic.Info()&types.IsInteger == 0 {
		return false
	}
	load, ok := sum.X.(*ssa.UnOp)
	return ok && load.Op == token.MUL && pathOf(load.X).equals(pathOf(store.Addr))
}

// isShared reports whether other goroutines may see the memory at an address, because this function
// did not just allocate it.
func isShared(address ssa.Value) bool {
	for {
		switch v := address.(type) {
		case *ssa.FieldAddr:
			address = v.X
		case *ssa.IndexAddr:
			address = v.X
		case *ssa.Slice:
			address = v.X
		case *ssa.Alloc, *ssa.MakeSlice, *ssa.MakeMap:
			return false
		default:
			return true
		}
	}
}

// written returns the shared objects that an instruction changes. An unknown object is an entry
// without a name.
func (p *program) written(instruction ssa.Instruction, own bool) []string {
	var address ssa.Value
	switch i := instruction.(type) {
	case *ssa.Store:
		address = i.Addr
	case *ssa.MapUpdate:
		address = i.Map
	case *ssa.Call:
		builtin, ok := i.Call.Value.(*ssa.Builtin)
		if !ok || builtin.Name() != "delete" && builtin.Name() != "copy" && builtin.Name() != "clear" {
			return nil
		}
		address = i.Call.Args[0]
	default:
		return nil
	}
	if !isShared(address) {
		return nil
	}
	if !own {
		return []string{fullName(instruction.Parent())}
	}
	if names := p.points.of(address); len(names) > 0 {
		return names
	}
	return []string{functionName(instruction.Parent())}
}

func sorted(names map[string]bool) []string {
	list := make([]string, 0, len(names))
	for name := range names {
		list = append(list, name)
	}
	sort.Strings(list)
	return list
}

func isReceive(instruction ssa.Instruction) bool {
	load, ok := instruction.(*ssa.UnOp)
	return ok && load.Op == token.ARROW
}

// A visit is a function on the way from a critical section, and how it was reached.
type visit struct {
	function *ssa.Function
	from     *visit
	sure     bool
	// place is the section's call of the first function of the chain.
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

// follow inspects all instructions of the section and all functions that they call.
func (c *contents) follow(passed []ssa.Instruction) {
	var queue []*visit
	seen := map[*ssa.Function]bool{}
	reach := func(call ssa.CallInstruction, from *visit) {
		queue = append(queue, c.targets(call, from, seen)...)
	}
	for _, instruction := range passed {
		c.inspect(instruction, nil)
		if call, ok := instruction.(ssa.CallInstruction); ok && !c.isOperation(instruction) {
			reach(call, nil)
		}
	}
	for len(queue) > 0 && len(seen) < mostFunctions {
		next := queue[0]
		queue = queue[1:]
		for _, block := range next.function.Blocks {
			for _, instruction := range block.Instrs {
				c.inspect(instruction, next)
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

// targets returns the functions that a call reaches and that are inspected next.
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

// inspect adds the effects of an instruction, except calls.
func (c *contents) inspect(instruction ssa.Instruction, from *visit) {
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

package analysis

import (
	"fmt"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// An operation locks or unlocks: by a method of package sync, or by a function that does it for its
// caller.
type operation struct {
	instruction ssa.Instruction
	at          point
	lock        bool
	read        bool
	// try reports whether locking may fail; the lock is then held where the result is true.
	try      bool
	deferred bool
	path     path
	objects  []string
	// kind is the lock's type: Mutex, RWMutex, or Locker if only the interface is known.
	kind string
	// via is the function that locks for its caller; empty for a direct operation.
	via string
	// written is the place of the call of package sync's method.
	written Place
	// declared is the lock's declaration, if it is a field or a variable.
	declared token.Pos
}

var methods = map[string]operation{
	"Lock":     {lock: true},
	"Unlock":   {},
	"RLock":    {lock: true, read: true},
	"RUnlock":  {read: true},
	"TryLock":  {lock: true, try: true},
	"TryRLock": {lock: true, read: true, try: true},
}

// operationsOf lists the operations of a function in the order of its blocks.
func (p *program) operationsOf(function *ssa.Function) []*operation {
	var found []*operation
	for _, block := range function.Blocks {
		for i, instruction := range block.Instrs {
			call, ok := instruction.(ssa.CallInstruction)
			if !ok {
				continue
			}
			if _, concurrent := instruction.(*ssa.Go); concurrent {
				continue
			}
			for _, one := range p.operationsOfCall(call.Common()) {
				_, one.deferred = instruction.(*ssa.Defer)
				one.instruction, one.at = instruction, point{block, i}
				if one.via == "" {
					one.written = p.placeOf(instruction)
				}
				found = append(found, one)
			}
		}
	}
	return found
}

func (p *program) operationsOfCall(call *ssa.CallCommon) []*operation {
	name, kind, receiver := syncMethod(call)
	if receiver != nil {
		one := methods[name]
		one.kind, one.path = kind, pathOf(receiver)
		one.objects, one.declared = p.points.of(receiver), declaration(receiver)
		return []*operation{&one}
	}
	var bindings []ssa.Value
	if closure, ok := call.Value.(*ssa.MakeClosure); ok {
		bindings = closure.Bindings
	}
	callee := call.StaticCallee()
	if callee == nil {
		return nil
	}
	if origin := callee.Origin(); origin != nil {
		callee = origin
	}
	if !p.own[callee] {
		return nil
	}
	var found []*operation
	for _, inner := range p.summaryOf(callee).forCaller {
		one := *inner
		if start := argumentFor(inner.path.root, callee, call.Args, bindings); start != nil {
			one.path = inner.path.from(pathOf(start))
		}
		one.via = functionName(callee)
		found = append(found, &one)
	}
	return found
}

// syncMethod recognises a call of a lock's method: directly, through sync.Locker, or of a method
// value that was made of it.
func syncMethod(call *ssa.CallCommon) (name, kind string, receiver ssa.Value) {
	if call.IsInvoke() {
		name = call.Method.Name()
		if _, known := methods[name]; !known || !isNamed(call.Value.Type(), "sync", "Locker") {
			return "", "", nil
		}
		if of := readersOf(call.Value); of != nil {
			return "R" + name, "RWMutex", of
		}
		return name, "Locker", call.Value
	}
	function := call.StaticCallee()
	if function == nil {
		return "", "", nil
	}
	name = strings.TrimSuffix(function.Name(), "$bound")
	if _, known := methods[name]; !known {
		return "", "", nil
	}
	object, ok := function.Object().(*types.Func)
	if !ok || object.Signature().Recv() == nil {
		return "", "", nil
	}
	pointer, ok := object.Signature().Recv().Type().(*types.Pointer)
	if !ok || lockType(pointer.Elem()) == "" {
		return "", "", nil
	}
	kind = lockType(pointer.Elem())
	if closure, bound := call.Value.(*ssa.MakeClosure); bound {
		return name, kind, closure.Bindings[0]
	}
	if len(call.Args) == 0 {
		return "", "", nil
	}
	return name, kind, call.Args[0]
}

// readersOf is the lock whose RLocker a value is; nil if it is none.
func readersOf(value ssa.Value) ssa.Value {
	call, ok := value.(*ssa.Call)
	if !ok || calledName(&call.Call) != "(*sync.RWMutex).RLocker" {
		return nil
	}
	return call.Call.Args[0]
}

// argumentFor returns the value that a caller passes for a parameter or binds to a captured variable.
func argumentFor(root ssa.Value, callee *ssa.Function, arguments, bindings []ssa.Value) ssa.Value {
	for i, parameter := range callee.Params {
		if ssa.Value(parameter) == root && i < len(arguments) {
			return arguments[i]
		}
	}
	for i, variable := range callee.FreeVars {
		if ssa.Value(variable) == root && i < len(bindings) {
			return bindings[i]
		}
	}
	return nil
}

// declaration returns the declaration of the field or variable that holds a lock.
func declaration(receiver ssa.Value) token.Pos {
	switch v := receiver.(type) {
	case *ssa.FieldAddr:
		holder := v.X.Type().Underlying().(*types.Pointer).Elem().Underlying().(*types.Struct)
		return holder.Field(v.Field).Pos()
	case *ssa.Global, *ssa.Alloc:
		return receiver.Pos()
	case *ssa.IndexAddr:
		return declaration(v.X)
	case *ssa.UnOp:
		return declaration(v.X)
	case *ssa.MakeInterface:
		return declaration(v.X)
	}
	return token.NoPos
}

// sameMode reports whether one operation undoes the other.
func (o *operation) sameMode(other *operation) bool { return o.read == other.read }

// isSame reports whether both operations certainly use the same lock.
func (o *operation) isSame(other *operation) bool { return o.path.equals(other.path) }

// mayBeSame reports whether both operations may use the same lock.
func (o *operation) mayBeSame(other *operation) bool {
	return slices.ContainsFunc(o.objects, func(name string) bool {
		return slices.Contains(other.objects, name)
	})
}

// begins returns the first point that holds the lock: after the call, or after a successful try.
func (o *operation) begins() (point, bool) {
	if !o.try {
		return point{o.at.block, o.at.index + 1}, true
	}
	value, ok := o.instruction.(*ssa.Call)
	if !ok {
		return point{}, false
	}
	return successOf(value)
}

func successOf(value ssa.Value) (point, bool) {
	for _, user := range *value.Referrers() {
		switch u := user.(type) {
		case *ssa.If:
			return point{u.Block().Succs[0], 0}, len(u.Block().Succs[0].Preds) == 1
		case *ssa.UnOp:
			if u.Op != token.NOT {
				continue
			}
			for _, second := range *u.Referrers() {
				if branch, ok := second.(*ssa.If); ok {
					return point{branch.Block().Succs[1], 0}, len(branch.Block().Succs[1].Preds) == 1
				}
			}
		}
	}
	return point{}, false
}

// A path names a place in memory as the code of one function reaches it: a value of that function,
// and the steps from there (fields, elements, pointers followed). Two equal paths in a function are
// the same place, unless the function stores to a pointer on the way between.
type path struct {
	root  ssa.Value
	steps []string
}

const follow = "*"

func (p path) equals(other path) bool {
	return p.root != nil && p.root == other.root && slices.Equal(p.steps, other.steps)
}

func (p path) with(step string) path {
	return path{p.root, append(slices.Clone(p.steps), step)}
}

func (p path) String() string {
	if p.root == nil {
		return "?"
	}
	return p.root.Name() + strings.Join(p.steps, "")
}

// then applies a step; a pointer kept in a variable that is set once is what was put there.
func (p path) then(step string) path {
	if step == follow && len(p.steps) == 0 {
		if stored := onlyValue(p.root); stored != nil {
			return pathOf(stored)
		}
	}
	return p.with(step)
}

// from is this path with another root: an argument for a parameter, what a closure captured.
func (p path) from(start path) path {
	for _, step := range p.steps {
		start = start.then(step)
	}
	return start
}

func pathOf(value ssa.Value) path {
	return pathSeen(value, nil)
}

func pathSeen(value ssa.Value, seen []ssa.Value) path {
	switch v := value.(type) {
	case *ssa.FieldAddr:
		return pathSeen(v.X, seen).then(fmt.Sprintf(".%d", v.Field))
	case *ssa.Field:
		return pathSeen(v.X, seen).then(fmt.Sprintf(".%d", v.Field))
	case *ssa.IndexAddr:
		return pathSeen(v.X, seen).then("[" + indexText(v.Index) + "]")
	case *ssa.Lookup:
		return pathSeen(v.X, seen).then("{" + indexText(v.Index) + "}")
	case *ssa.UnOp:
		if v.Op == token.MUL {
			return pathSeen(v.X, seen).then(follow)
		}
	case *ssa.MakeInterface:
		return pathSeen(v.X, seen)
	case *ssa.ChangeInterface:
		return pathSeen(v.X, seen)
	case *ssa.ChangeType:
		return pathSeen(v.X, seen)
	case *ssa.TypeAssert:
		if !v.CommaOk {
			return pathSeen(v.X, seen)
		}
	case *ssa.Phi:
		return phiPath(v, seen)
	}
	return path{root: value}
}

// phiPath is the path of a variable that has the same value whichever way control came.
func phiPath(phi *ssa.Phi, seen []ssa.Value) path {
	if slices.Contains(seen, ssa.Value(phi)) {
		return path{root: phi}
	}
	seen = append(slices.Clone(seen), phi)
	var same path
	for _, edge := range phi.Edges {
		found := pathSeen(edge, seen)
		if found.root == ssa.Value(phi) && len(found.steps) == 0 {
			continue
		}
		if same.root == nil {
			same = found
		} else if !same.equals(found) {
			return path{root: phi}
		}
	}
	if same.root == nil {
		return path{root: phi}
	}
	return same
}

func indexText(index ssa.Value) string {
	if constant, ok := index.(*ssa.Const); ok {
		return constant.Value.String()
	}
	return pathOf(index).String()
}

// onlyValue returns the value of a variable that is set once in its function, or nil.
func onlyValue(value ssa.Value) ssa.Value {
	cell, ok := value.(*ssa.Alloc)
	if !ok || cell.Referrers() == nil {
		return nil
	}
	var stored ssa.Value
	for _, user := range *cell.Referrers() {
		switch u := user.(type) {
		case *ssa.Store:
			if u.Addr != ssa.Value(cell) || stored != nil {
				return nil
			}
			stored = u.Val
		case *ssa.MakeClosure:
			if setByClosure(u, cell) {
				return nil
			}
		case *ssa.UnOp, *ssa.DebugRef:
		default:
			return nil
		}
	}
	return stored
}

// setByClosure reports whether a closure stores to a variable that it captured.
func setByClosure(closure *ssa.MakeClosure, cell ssa.Value) bool {
	function, ok := closure.Fn.(*ssa.Function)
	if !ok {
		return true
	}
	for i, bound := range closure.Bindings {
		if bound != cell {
			continue
		}
		for _, user := range *function.FreeVars[i].Referrers() {
			switch user.(type) {
			case *ssa.UnOp, *ssa.DebugRef:
			default:
				return true
			}
		}
	}
	return false
}

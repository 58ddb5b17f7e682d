package analysis

import (
	"fmt"
	"go/token"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

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

// onlyValue is what a variable holds that is set once in its function; nil if there is none.
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

// setByClosure says whether a closure stores to a variable that it captured.
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

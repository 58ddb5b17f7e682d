package analysis

import (
	"go/token"
	"go/types"
	"sort"

	"golang.org/x/tools/go/ssa"
)

// pointers finds the locks that a pointer may point to. It follows assignments, arguments, results and
// captured variables through the requested packages, in any order. A field is one
// object for all values of its type, an element one for all of its container.
type pointers struct {
	program *program
	// stored holds what is stored to each object, where that is a lock's address.
	stored map[string][]ssa.Value
	// passed holds the arguments for each parameter, captured what closures hold.
	passed   map[ssa.Value][]ssa.Value
	captured map[ssa.Value][]ssa.Value
}

func newPointers(program *program) *pointers {
	p := &pointers{program, map[string][]ssa.Value{}, map[ssa.Value][]ssa.Value{}, map[ssa.Value][]ssa.Value{}}
	var stores []*ssa.Store
	for _, function := range program.functions {
		for _, block := range function.Blocks {
			for _, instruction := range block.Instrs {
				switch found := instruction.(type) {
				case *ssa.Store:
					if holdsLock(found.Val.Type()) {
						stores = append(stores, found)
					}
				case *ssa.MakeClosure:
					p.addCaptured(found)
				case ssa.CallInstruction:
					p.addPassed(found.Common())
				}
			}
		}
	}
	for _, store := range stores {
		for _, cell := range p.of(store.Addr) {
			p.stored[cell] = append(p.stored[cell], store.Val)
		}
	}
	return p
}

func (p *pointers) addCaptured(closure *ssa.MakeClosure) {
	if function, ok := closure.Fn.(*ssa.Function); ok {
		for i, bound := range closure.Bindings {
			variable := function.FreeVars[i]
			p.captured[variable] = append(p.captured[variable], bound)
		}
	}
}

func (p *pointers) addPassed(call *ssa.CallCommon) {
	function := call.StaticCallee()
	if function == nil {
		return
	}
	if origin := function.Origin(); origin != nil {
		function = origin
	}
	for i, argument := range call.Args {
		if i < len(function.Params) {
			parameter := function.Params[i]
			p.passed[parameter] = append(p.passed[parameter], argument)
		}
	}
}

// holdsLock reports whether values of a type are locks' addresses: *sync.Mutex, sync.Locker and so on.
func holdsLock(of types.Type) bool {
	if pointer, ok := of.Underlying().(*types.Pointer); ok {
		return lockType(pointer.Elem()) != ""
	}
	_, ok := of.Underlying().(*types.Interface)
	return ok && isNamed(of, "sync", "Locker")
}

func lockType(of types.Type) string {
	for _, name := range []string{"Mutex", "RWMutex"} {
		if isNamed(of, "sync", name) {
			return name
		}
	}
	return ""
}

func isNamed(of types.Type, pkg, name string) bool {
	named, ok := types.Unalias(of).(*types.Named)
	if !ok || named.Obj().Pkg() == nil {
		return false
	}
	return named.Obj().Pkg().Path() == pkg && named.Obj().Name() == name
}

// of lists the objects that a pointer may point to, sorted.
func (p *pointers) of(value ssa.Value) []string {
	found := map[string]bool{}
	p.collect(value, found, map[ssa.Value]bool{})
	names := make([]string, 0, len(found))
	for name := range found {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

func (p *pointers) collect(value ssa.Value, found map[string]bool, seen map[ssa.Value]bool) {
	if seen[value] {
		return
	}
	seen[value] = true
	all := func(values []ssa.Value) bool {
		for _, one := range values {
			p.collect(one, found, seen)
		}
		return len(values) > 0
	}
	switch v := value.(type) {
	case *ssa.Global:
		found[v.Pkg.Pkg.Path()+"."+v.Name()] = true
	case *ssa.Alloc:
		found[functionName(v.Parent())+"."+allocName(v)] = true
	case *ssa.FieldAddr:
		p.addField(v, found, seen)
	case *ssa.Field:
		p.addValueField(v, found, seen)
	case *ssa.IndexAddr:
		p.addEach(v.X, "[]", found, seen)
	case *ssa.Slice:
		p.collect(v.X, found, seen)
	case *ssa.MakeInterface:
		p.collect(v.X, found, seen)
	case *ssa.ChangeInterface:
		p.collect(v.X, found, seen)
	case *ssa.ChangeType:
		p.collect(v.X, found, seen)
	case *ssa.TypeAssert:
		p.collect(v.X, found, seen)
	case *ssa.Phi:
		all(v.Edges)
	case *ssa.UnOp:
		p.addLoaded(v, found, seen)
	case *ssa.Lookup:
		p.addEach(v.X, "{}", found, seen)
	case *ssa.Extract:
		p.addResult(v.Tuple, v.Index, found, seen)
	case *ssa.Call:
		p.addResult(v, 0, found, seen)
	case *ssa.Parameter:
		if !all(p.passed[v]) {
			found[functionName(v.Parent())+"."+v.Name()] = true
		}
	case *ssa.FreeVar:
		if !all(p.captured[v]) {
			found[functionName(v.Parent())+"."+v.Name()] = true
		}
	case *ssa.Const, *ssa.Function, *ssa.Builtin:
	default:
		found[functionName(value.Parent())+"."+value.Name()] = true
	}
}

func allocName(v *ssa.Alloc) string {
	if v.Comment != "" && token.IsIdentifier(v.Comment) {
		return v.Comment
	}
	return v.Name()
}

// addField names a field by its type; that of a struct without a name by where the struct is.
func (p *pointers) addField(v *ssa.FieldAddr, found map[string]bool, seen map[ssa.Value]bool) {
	name, field := fieldName(v.X.Type().Underlying().(*types.Pointer).Elem(), v.Field, v.Parent())
	if name != "" {
		found[name] = true
		return
	}
	p.addEach(v.X, "."+field, found, seen)
}

// addValueField is for a field of a struct that is passed by value: a pointer, if it is a lock's.
func (p *pointers) addValueField(v *ssa.Field, found map[string]bool, seen map[ssa.Value]bool) {
	name, field := fieldName(v.X.Type(), v.Field, v.Parent())
	if name == "" {
		name = functionName(v.Parent()) + "." + v.X.Name() + "." + field
	}
	p.addStored(name, v.Type(), found, seen)
}

// fieldName is the whole name of a field; empty if its struct has no name, with the field's own.
func fieldName(holder types.Type, index int, function *ssa.Function) (name, field string) {
	field = holder.Underlying().(*types.Struct).Field(index).Name()
	named, ok := types.Unalias(holder).(*types.Named)
	if !ok || named.Obj().Pkg() == nil {
		return "", field
	}
	if named.Obj().Parent() == named.Obj().Pkg().Scope() {
		return named.Obj().Pkg().Path() + "." + named.Obj().Name() + "." + field, field
	}
	return functionName(function) + "." + named.Obj().Name() + "." + field, field
}

// addEach adds a part of each object that a pointer may point to.
func (p *pointers) addEach(whole ssa.Value, part string, found map[string]bool, seen map[ssa.Value]bool) {
	wholes := map[string]bool{}
	p.collect(whole, wholes, seen)
	for name := range wholes {
		found[name+part] = true
	}
}

func (p *pointers) addLoaded(v *ssa.UnOp, found map[string]bool, seen map[ssa.Value]bool) {
	if v.Op != token.MUL {
		found[functionName(v.Parent())+"."+v.Name()] = true
		return
	}
	cells := map[string]bool{}
	p.collect(v.X, cells, seen)
	for cell := range cells {
		p.addStored(cell, v.Type(), found, seen)
	}
}

// addStored adds the locks whose addresses are stored in an object; the object itself if none are.
func (p *pointers) addStored(cell string, of types.Type, found map[string]bool, seen map[ssa.Value]bool) {
	stored := p.stored[cell]
	if !holdsLock(of) || len(stored) == 0 {
		found[cell] = true
	}
	if holdsLock(of) {
		for _, one := range stored {
			p.collect(one, found, seen)
		}
	}
}

func (p *pointers) addResult(value ssa.Value, index int, found map[string]bool, seen map[ssa.Value]bool) {
	call, ok := value.(*ssa.Call)
	if !ok {
		p.collect(value, found, seen)
		return
	}
	function := call.Call.StaticCallee()
	if function == nil || !p.program.own[function] {
		found[functionName(call.Parent())+"."+call.Name()] = true
		return
	}
	for _, block := range function.Blocks {
		if last, ok := block.Instrs[len(block.Instrs)-1].(*ssa.Return); ok && index < len(last.Results) {
			p.collect(last.Results[index], found, seen)
		}
	}
}

// functionName is its package's path, type and name, and a number for a closure, as the runtime
// writes it.
func functionName(function *ssa.Function) string {
	if function.Parent() != nil {
		number := function.Name()[len(function.Parent().Name())+1:]
		return functionName(function.Parent()) + ".func" + number
	}
	if function.Signature.Recv() != nil && function.Pkg != nil {
		receiver := types.TypeString(function.Signature.Recv().Type(), func(*types.Package) string { return "" })
		return function.Pkg.Pkg.Path() + ".(" + receiver + ")." + function.Name()
	}
	if function.Pkg != nil {
		return function.Pkg.Pkg.Path() + "." + function.Name()
	}
	return function.String()
}

// Package analysis finds the critical sections of Go programs: which lock operation pairs with which
// unlock operation, and the actions between them.
package analysis

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"sort"
	"strings"

	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/ssa/ssautil"
)

const loaded = packages.LoadAllSyntax | packages.NeedModule

// A program holds the requested packages and all their imports, in SSA form.
type program struct {
	ssa       *ssa.Program
	files     *token.FileSet
	directory string
	packages  []*packages.Package
	// functions lists all functions with source in the requested packages, including closures.
	functions []*ssa.Function
	own       map[*ssa.Function]bool
	points    *pointers
	summaries map[*ssa.Function]*summary
	calls     *callees
}

// load reads and type-checks packages; they have to compile.
func load(directory string, patterns []string) (*program, error) {
	config := &packages.Config{Mode: loaded, Dir: directory}
	found, err := packages.Load(config, patterns...)
	if err != nil {
		return nil, err
	}
	if err := firstError(found); err != nil {
		return nil, err
	}
	built, ofPackages := ssautil.AllPackages(found, ssa.InstantiateGenerics)
	built.Build()
	program := &program{
		ssa:       built,
		files:     built.Fset,
		directory: directory,
		packages:  found,
		own:       map[*ssa.Function]bool{},
		summaries: map[*ssa.Function]*summary{},
	}
	for i, one := range found {
		if ofPackages[i] != nil {
			program.addFunctions(one)
		}
	}
	program.points = newPointers(program)
	program.calls = newCallees(program)
	return program, nil
}

func firstError(found []*packages.Package) error {
	var messages []string
	packages.Visit(found, nil, func(one *packages.Package) {
		for _, err := range one.Errors {
			messages = append(messages, err.Error())
		}
	})
	if len(messages) > 0 {
		sort.Strings(messages)
		return fmt.Errorf("the packages do not load: %s", messages[0])
	}
	files := 0
	for _, one := range found {
		files += len(one.Syntax)
	}
	if files == 0 {
		return errors.New("there are no Go files there")
	}
	return nil
}

func (p *program) addFunctions(one *packages.Package) {
	for _, file := range one.Syntax {
		for _, declaration := range file.Decls {
			if function, ok := declaration.(*ast.FuncDecl); ok {
				object, _ := one.TypesInfo.Defs[function.Name].(*types.Func)
				p.addFunction(p.ssa.FuncValue(object))
			}
		}
	}
	if start := p.ssa.Package(one.Types).Func("init"); start != nil {
		for _, closure := range start.AnonFuncs {
			p.addFunction(closure)
		}
	}
}

func (p *program) addFunction(function *ssa.Function) {
	if function == nil || p.own[function] || function.Blocks == nil {
		return
	}
	p.own[function] = true
	p.functions = append(p.functions, function)
	for _, closure := range function.AnonFuncs {
		p.addFunction(closure)
	}
}

// A Place is a line of a source file; the file is relative to the program's directory if below it.
type Place struct {
	File string `json:"file"`
	Line int    `json:"line"`
}

func (p *program) place(at token.Pos) Place {
	found := p.files.Position(at)
	return Place{p.relative(found.Filename), found.Line}
}

func (p *program) relative(file string) string {
	below, err := filepath.Rel(p.directory, file)
	if err != nil || below == ".." || strings.HasPrefix(below, "../") {
		return file
	}
	return below
}

// placeOf returns the place of an instruction, or of the next one that has a place.
func (p *program) placeOf(instruction ssa.Instruction) Place {
	if instruction.Pos().IsValid() {
		return p.place(instruction.Pos())
	}
	at := pointOf(instruction)
	for _, other := range at.block.Instrs[at.index:] {
		if other.Pos().IsValid() {
			return p.place(other.Pos())
		}
	}
	if syntax := instruction.Parent().Syntax(); syntax != nil {
		return p.place(syntax.End() - 1)
	}
	return p.place(instruction.Parent().Pos())
}

// benchmarksOf lists the benchmarks of packages, with the package's path: those functions of their
// tests that the go command runs with -bench.
func benchmarksOf(found []*packages.Package) []string {
	names := []string{}
	for _, one := range found {
		tests, _ := filepath.Glob(filepath.Join(one.Dir, "*_test.go"))
		for _, file := range tests {
			parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
			if err != nil {
				continue
			}
			for _, declaration := range parsed.Decls {
				function, ok := declaration.(*ast.FuncDecl)
				if ok && function.Recv == nil && strings.HasPrefix(function.Name.Name, "Benchmark") {
					names = append(names, one.PkgPath+"."+function.Name.Name)
				}
			}
		}
	}
	return names
}

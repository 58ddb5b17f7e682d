package analysis

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/packages"
)

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

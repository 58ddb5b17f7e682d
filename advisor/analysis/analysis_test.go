package analysis

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/go/ssa"
)

var update = flag.Bool("update", false, "rewrite the reports in testdata")

// reportMark starts the comment at the end of a case that holds its report.
const reportMark = "\n/*\nReport:\n\n"

// text writes a report as lines a person can check against the source.
func text(report *Report) string {
	var out strings.Builder
	for _, one := range report.Sections {
		fmt.Fprintf(&out, "%s\n", shortened(one.Function))
		fmt.Fprintf(&out, "  %s %s, %s, %s lock\n", one.Mode, shortened(strings.Join(one.Locks, " or ")), one.Rule, one.SameLock)
		fmt.Fprintf(&out, "  lines %s to %s\n", lines(one.LockedAt), lines(one.UnlockedAt))
		fmt.Fprintf(&out, "  %d instructions, %d calls, %d loops, %d allocations, %d map accesses, reads only: %t, only counts: %t\n",
			one.Instructions, one.Calls, one.Loops, one.Allocations, one.MapAccesses, one.ReadsOnly, one.OnlyCounts)
		if len(one.Reads) > 0 {
			fmt.Fprintf(&out, "  reads %s\n", shortened(strings.Join(one.Reads, ", ")))
		}
		if len(one.Writes) > 0 {
			fmt.Fprintf(&out, "  writes %s\n", shortened(strings.Join(one.Writes, ", ")))
		}
		for _, effect := range one.Effects {
			fmt.Fprintf(&out, "  %s at line %d, sure: %t", effect.What, effect.Place.Line, effect.Sure)
			if len(effect.Chain) > 0 {
				fmt.Fprintf(&out, ": %s", shortened(strings.Join(effect.Chain, " > ")))
			}
			fmt.Fprintln(&out)
		}
		for _, place := range one.Panics {
			fmt.Fprintf(&out, "  panics locked at line %d\n", place.Line)
		}
	}
	for _, one := range report.Unpaired {
		fmt.Fprintf(&out, "unpaired %s of %s in %s, line %d: %s\n", one.Does,
			shortened(strings.Join(one.Locks, " or ")), shortened(one.Function), one.Place.Line, one.Reason)
	}
	for _, one := range report.Locks {
		fmt.Fprintf(&out, "lock %s: %s, %s", shortened(one.Name), one.Kind, one.Holder)
		if one.Declared != nil {
			fmt.Fprintf(&out, ", declared in line %d", one.Declared.Line)
		}
		fmt.Fprintln(&out)
	}
	return out.String()
}

func shortened(name string) string { return strings.ReplaceAll(name, "example.com/cases/", "") }

func lines(operations []Operation) string {
	var words []string
	for _, one := range operations {
		word := fmt.Sprint(one.Line)
		if one.Deferred {
			word += " (deferred)"
		}
		if one.Via != "" {
			word += fmt.Sprintf(" (by %s, line %d)", shortened(one.Via), one.Written.Line)
		}
		words = append(words, word)
	}
	return strings.Join(words, ", ")
}

// cases is the program of all packages below testdata, loaded once.
var cases = sync.OnceValues(func() (*program, error) {
	directory, err := filepath.Abs("testdata")
	if err != nil {
		return nil, err
	}
	return load(directory, []string{"./..."})
})

func loadCases(t *testing.T) *program {
	t.Helper()
	program, err := cases()
	if err != nil {
		t.Fatal(err)
	}
	return program
}

// of is the part of a report that is about one package.
func (r *Report) of(name string) *Report {
	prefix := "example.com/cases/" + name + "."
	part := &Report{}
	for _, one := range r.Sections {
		if strings.HasPrefix(one.Function, prefix) {
			part.Sections = append(part.Sections, one)
		}
	}
	for _, one := range r.Unpaired {
		if strings.HasPrefix(one.Function, prefix) {
			part.Unpaired = append(part.Unpaired, one)
		}
	}
	for _, one := range r.Locks {
		if strings.HasPrefix(one.Name, prefix) {
			part.Locks = append(part.Locks, one)
		}
	}
	return part
}

func TestReportsAreAsKnown(t *testing.T) {
	report := loadCases(t).report()
	for _, one := range report.Packages {
		name := filepath.Base(one)
		t.Run(name, func(t *testing.T) {
			file := filepath.Join("testdata", name, name+".go")
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			source, known, marked := strings.Cut(string(content), reportMark)
			if !marked {
				t.Fatalf("%s has no report", file)
			}
			made := text(report.of(name)) + "*/\n"
			if *update {
				if err := os.WriteFile(file, []byte(source+reportMark+made), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if made != known {
				t.Errorf("%s differs:\n%s", file, made)
			}
		})
	}
}

func TestPackagesThatDoNotLoadAreNamed(t *testing.T) {
	for pattern, words := range map[string]string{"./none": "none", "./none/...": "none"} {
		if _, err := Analyze("testdata", []string{pattern}); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %v", pattern, err)
		}
	}
}

// ends reports whether a function's end can be reached from a block without passing another: what
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

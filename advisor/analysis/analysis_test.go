package analysis

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

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
			golden := filepath.Join("testdata", name, "golden.txt")
			made := text(report.of(name))
			if *update {
				if err := os.WriteFile(golden, []byte(made), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			wanted, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if made != string(wanted) {
				t.Errorf("%s differs:\n%s", golden, made)
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

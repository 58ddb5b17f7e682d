package contention

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/tidscope/tidscope/advisor/analysis"
)

const folder = "/src/shop/cart"

func operation(line int, deferred bool, via string) analysis.Operation {
	return analysis.Operation{Place: analysis.Place{File: "cart.go", Line: line}, Deferred: deferred, Via: via}
}

func section(begins, ends int, mode string, lock, unlock analysis.Operation) analysis.Section {
	return analysis.Section{
		Begins: analysis.Place{File: "cart.go", Line: begins}, Ends: analysis.Place{File: "cart.go", Line: ends},
		Mode: mode, LockedAt: []analysis.Operation{lock}, UnlockedAt: []analysis.Operation{unlock},
	}
}

// program has a section by lines, one that ends with its function, a closure in that, one for
// readers, and one that calls lock (line 80) and unlock (line 84).
var program = &analysis.Report{
	Directory: folder,
	Sections: []analysis.Section{
		section(10, 20, "write", operation(12, false, ""), operation(14, false, "")),
		section(30, 50, "write", operation(31, false, ""), operation(32, true, "")),
		section(40, 45, "write", operation(41, false, ""), operation(42, true, "")),
		section(60, 65, "read", operation(61, false, ""), operation(63, false, "")),
		section(70, 75, "write", operation(71, false, "lock"), operation(73, false, "unlock")),
	},
	Unpaired: []analysis.Unpaired{
		{Place: analysis.Place{File: "cart.go", Line: 80}, Does: "lock", ForCaller: true},
		{Place: analysis.Place{File: "cart.go", Line: 84}, Does: "unlock", ForCaller: true},
		{Place: analysis.Place{File: "cart.go", Line: 90}, Does: "unlock"},
	},
	ForCallers: []analysis.Place{{File: "cart.go", Line: 80}, {File: "cart.go", Line: 84}},
}

func at(line int) frame { return frame{"cart.F", "/build/elsewhere/cart/cart.go", line} }

func TestSamplesBelongToTheirSections(t *testing.T) {
	cases := []struct {
		name     string
		method   string
		frames   []frame
		section  int
		unpaired int
	}{
		{"by line", "Unlock", []frame{at(14)}, 0, -1},
		{"of a block profile", "Lock", []frame{at(12)}, 0, -1},
		{"the unlock's line does not lock", "Lock", []frame{at(14)}, -1, -1},
		{"deferred", "Unlock", []frame{at(49)}, 1, -1},
		{"deferred in a closure", "Unlock", []frame{at(44), at(48)}, 2, -1},
		{"a reader", "RUnlock", []frame{at(63)}, 3, -1},
		{"not a reader", "Unlock", []frame{at(63)}, -1, -1},
		{"by a function for its caller", "Unlock", []frame{at(84), at(73)}, 4, -1},
		{"without a counterpart", "Unlock", []frame{at(90), at(14)}, -1, 2},
		{"of other code, called from a section", "Unlock", []frame{{"lib.F", "/lib/lib.go", 1}, at(49)}, -1, -1},
		{"of another file of that name", "Unlock", []frame{{"x.F", "/src/other/cart.go", 14}}, -1, -1},
		{"without callers", "Unlock", nil, -1, -1},
	}
	for _, one := range cases {
		t.Run(one.name, func(t *testing.T) {
			report := Join(&Profile{samples: []sample{{one.method, one.frames, 3, 1000}}}, program)
			if report.WaitNs != 1000 || report.Waits != 3 {
				t.Errorf("in all %d ns, %d waits", report.WaitNs, report.Waits)
			}
			if found := index(report.Sections); found != one.section {
				t.Errorf("section %d, not %d", found, one.section)
			}
			if found := index(report.Unpaired); found != one.unpaired {
				t.Errorf("unpaired %d, not %d", found, one.unpaired)
			}
			if elsewhere := one.section < 0 && one.unpaired < 0; elsewhere != (len(report.Elsewhere) == 1) {
				t.Errorf("elsewhere: %v", report.Elsewhere)
			}
		})
	}
}

func index(list []Section) int {
	if len(list) != 1 || list[0].WaitNs != 1000 || list[0].Waits != 3 {
		return -1
	}
	return list[0].Index
}

func TestAProfileIsRead(t *testing.T) {
	made := &profile.Profile{
		SampleType:    []*profile.ValueType{{Type: "contentions", Unit: "count"}, {Type: "delay", Unit: "nanoseconds"}},
		PeriodType:    &profile.ValueType{Type: "contentions", Unit: "count"},
		DurationNanos: 2_500_000_000,
	}
	stack := func(names ...string) []*profile.Location {
		var locations []*profile.Location
		for i, name := range names {
			function := &profile.Function{ID: uint64(len(made.Function) + 1), Name: name, Filename: name + ".go"}
			made.Function = append(made.Function, function)
			location := &profile.Location{ID: uint64(len(made.Location) + 1), Line: []profile.Line{{Function: function, Line: int64(i + 1)}}}
			made.Location = append(made.Location, location)
			locations = append(locations, location)
		}
		return locations
	}
	for _, names := range [][]string{
		{"internal/sync.(*Mutex).Unlock", "sync.(*Mutex).Unlock", "cart.F", "main.main"},
		{"sync.(*RWMutex).RUnlock", "cart.G"},
		{"runtime.chansend1", "cart.H"},
		{"runtime.unlock", "runtime.mallocgc", "cart.I"},
	} {
		made.Sample = append(made.Sample, &profile.Sample{Location: stack(names...), Value: []int64{2, 40}})
	}
	file := filepath.Join(t.TempDir(), "mutex.pprof")
	opened, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := made.Write(opened); err != nil {
		t.Fatal(err)
	}
	opened.Close()
	read, err := Read(file)
	if err != nil {
		t.Fatal(err)
	}
	if read.Seconds != 2.5 || len(read.samples) != 2 {
		t.Fatalf("%v seconds, %d samples of locks", read.Seconds, len(read.samples))
	}
	first, second := read.samples[0], read.samples[1]
	if first.method != "Unlock" || len(first.frames) != 2 || first.frames[0].function != "cart.F" || first.wait != 40 {
		t.Errorf("first: %+v", first)
	}
	if second.method != "RUnlock" || second.frames[0] != (frame{"cart.G", "cart.G.go", 2}) {
		t.Errorf("second: %+v", second)
	}
}

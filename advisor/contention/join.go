package contention

import (
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"tidscope.local/advisor/analysis"
)

// A Report is the contention of the sections of a program.
type Report struct {
	// Seconds is the time that the profile covers; 0 if unknown.
	Seconds float64 `json:"seconds"`
	// WaitNs is the sum of all waits for locks, in the sections or elsewhere.
	WaitNs   int64     `json:"wait_ns"`
	Waits    int64     `json:"waits"`
	Sections []Section `json:"sections"`
	// Elsewhere are the places of waits that belong to no section, longest first.
	Elsewhere []Elsewhere `json:"elsewhere"`
}

// A Section has the waits of one of the program's sections.
type Section struct {
	// Section is its index in the report of the analysis.
	Section int   `json:"section"`
	WaitNs  int64 `json:"wait_ns"`
	Waits   int64 `json:"waits"`
}

// Elsewhere is a place of waits for a lock of other code.
type Elsewhere struct {
	Function string `json:"function"`
	File     string `json:"file"`
	Line     int    `json:"line"`
	WaitNs   int64  `json:"wait_ns"`
	Waits    int64  `json:"waits"`
}

// mostFrames is how many callers are looked at: functions that lock for their callers nest.
const mostFrames = 4

// Join finds the section of each sample.
func Join(profile *Profile, program *analysis.Report) *Report {
	report := &Report{Seconds: profile.Seconds, Sections: []Section{}, Elsewhere: []Elsewhere{}}
	sections := map[int]*Section{}
	elsewhere := map[frame]*Elsewhere{}
	for _, one := range profile.samples {
		report.WaitNs += one.wait
		report.Waits += one.count
		if index, found := one.section(program); found {
			if sections[index] == nil {
				sections[index] = &Section{Section: index}
			}
			sections[index].WaitNs += one.wait
			sections[index].Waits += one.count
			continue
		}
		at := frame{function: "unknown"}
		if len(one.frames) > 0 {
			at = one.frames[0]
		}
		if elsewhere[at] == nil {
			elsewhere[at] = &Elsewhere{Function: at.function, File: at.file, Line: at.line}
		}
		elsewhere[at].WaitNs += one.wait
		elsewhere[at].Waits += one.count
	}
	for _, one := range sections {
		report.Sections = append(report.Sections, *one)
	}
	for _, one := range elsewhere {
		report.Elsewhere = append(report.Elsewhere, *one)
	}
	sort.Slice(report.Sections, func(i, j int) bool { return report.Sections[i].Section < report.Sections[j].Section })
	sort.Slice(report.Elsewhere, func(i, j int) bool {
		a, b := report.Elsewhere[i], report.Elsewhere[j]
		return a.WaitNs > b.WaitNs || a.WaitNs == b.WaitNs && (a.File+a.Function < b.File+b.Function)
	})
	return report
}

// section is the section that a sample belongs to: by the line of an operation, or, since a deferred
// unlock runs where its function ends, by the lines of the function.
func (s sample) section(program *analysis.Report) (int, bool) {
	unlocks := strings.HasSuffix(s.method, "nlock")
	reads := strings.HasPrefix(s.method, "R") || strings.HasPrefix(s.method, "TryR")
	var lines, functions []int
	for depth, at := range s.frames {
		if depth == mostFrames {
			break
		}
		for index, section := range program.Sections {
			if (section.Mode == "read") != reads {
				continue
			}
			operations := section.LockedAt
			if unlocks {
				operations = section.UnlockedAt
			}
			if !at.isFile(program.Absolute(section.Begins.File)) {
				continue
			}
			if slices.ContainsFunc(operations, at.isAt) {
				lines = append(lines, index)
			} else if slices.ContainsFunc(operations, isDeferred) && at.isIn(section) {
				functions = append(functions, index)
			}
		}
		if len(lines) > 0 {
			return lines[0], true
		}
		if len(functions) > 0 {
			// The innermost: a closure lies within the lines of the function around it.
			return slices.MinFunc(functions, func(a, b int) int {
				return program.Sections[a].Ends.Line - program.Sections[a].Begins.Line -
					program.Sections[b].Ends.Line + program.Sections[b].Begins.Line
			}), true
		}
	}
	return 0, false
}

func isDeferred(one analysis.Operation) bool { return one.Deferred }

func (f frame) isAt(one analysis.Operation) bool {
	return f.line == one.Line
}

func (f frame) isIn(section analysis.Section) bool {
	return f.line >= section.Begins.Line && f.line <= section.Ends.Line
}

// isFile compares file and folder only: a program may be built elsewhere, or with -trimpath.
func (f frame) isFile(ours string) bool {
	return filepath.Base(f.file) == filepath.Base(ours) &&
		filepath.Base(filepath.Dir(f.file)) == filepath.Base(filepath.Dir(ours))
}

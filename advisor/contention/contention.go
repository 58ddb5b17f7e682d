// Package contention joins measured lock waits with the places of lock operations.
package contention

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/google/pprof/profile"
	"github.com/tidscope/tidscope/advisor/analysis"
)

// A Profile is a mutex profile (who held a lock that others waited for, and where it was unlocked)
// or a block profile (who waited, and where it locked).
type Profile struct {
	// Seconds is the covered time; 0 if unknown.
	Seconds float64
	samples []sample
}

// A sample is a stack with a lock operation at its end.
type sample struct {
	// method is the lock's method at the end of the stack, as Unlock.
	method string
	// frames are the callers of the method, nearest first.
	frames []frame
	count  int64
	wait   int64
}

type frame struct {
	function string
	file     string
	line     int
}

// Read reads a profile from a file.
func Read(file string) (*Profile, error) {
	opened, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	parsed, err := profile.Parse(opened)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	count, wait := -1, -1
	for i, kind := range parsed.SampleType {
		switch {
		case kind.Type == "contentions":
			count = i
		case kind.Type == "delay" && kind.Unit == "nanoseconds":
			wait = i
		}
	}
	if count < 0 || wait < 0 {
		return nil, fmt.Errorf("%s is neither a mutex nor a block profile: it has no contentions and delays", file)
	}
	made := &Profile{Seconds: float64(parsed.DurationNanos) / 1e9}
	for _, one := range parsed.Sample {
		method, frames := split(one)
		if method != "" {
			made.samples = append(made.samples, sample{method, frames, one.Value[count], one.Value[wait]})
		}
	}
	return made, nil
}

// split parts a stack into the method of package sync at its end and its callers; the method is
// empty if it is of something else (a channel in a block profile, the runtime's own locks).
func split(one *profile.Sample) (method string, frames []frame) {
	for _, location := range one.Location {
		for _, line := range location.Line {
			if line.Function == nil {
				continue
			}
			name := line.Function.Name
			if len(frames) == 0 {
				if found := lockMethod(name); found != "" {
					method = found
				}
				if isInside(name) {
					continue
				}
			}
			frames = append(frames, frame{name, line.Function.Filename, int(line.Line)})
		}
	}
	if method == "" {
		return "", nil
	}
	return method, frames
}

func isInside(name string) bool {
	return strings.HasPrefix(name, "sync.") || strings.HasPrefix(name, "internal/sync.") ||
		strings.HasPrefix(name, "runtime.")
}

// lockMethod is the method of a function's full name, if it is one of a lock.
func lockMethod(name string) string {
	for _, kind := range []string{"sync.(*Mutex).", "sync.(*RWMutex)."} {
		if _, method, found := strings.Cut(name, kind); found {
			return method
		}
	}
	return ""
}

// A Report is the contention of the sections of a program.
type Report struct {
	// Seconds is the time that the profile covers; 0 if unknown.
	Seconds float64 `json:"seconds"`
	// WaitNs is the sum of all waits for locks, in the sections or elsewhere.
	WaitNs   int64     `json:"wait_ns"`
	Waits    int64     `json:"waits"`
	Sections []Section `json:"sections"`
	// Unpaired are the waits at operations without a counterpart.
	Unpaired []Section `json:"unpaired"`
	// Elsewhere are the places of waits that belong to no section, longest first.
	Elsewhere []Elsewhere `json:"elsewhere"`
}

// A Section has the waits of a section, or of an operation without a counterpart.
type Section struct {
	// Index is the section's index in the list of the analysis.
	Index  int   `json:"index"`
	WaitNs int64 `json:"wait_ns"`
	Waits  int64 `json:"waits"`
}

// Elsewhere is a place of waits for a lock of other code.
type Elsewhere struct {
	Function string `json:"function"`
	File     string `json:"file"`
	Line     int    `json:"line"`
	WaitNs   int64  `json:"wait_ns"`
	Waits    int64  `json:"waits"`
}

// Join finds the section of each sample.
func Join(profile *Profile, program *analysis.Report) *Report {
	report := &Report{Seconds: profile.Seconds, Elsewhere: []Elsewhere{}}
	sections, unpaired := map[int]*Section{}, map[int]*Section{}
	elsewhere := map[frame]*Elsewhere{}
	for _, one := range profile.samples {
		report.WaitNs += one.wait
		report.Waits += one.count
		at, found := one.place(program)
		if !found {
			if elsewhere[at] == nil {
				elsewhere[at] = &Elsewhere{Function: at.function, File: at.file, Line: at.line}
			}
			elsewhere[at].WaitNs += one.wait
			elsewhere[at].Waits += one.count
		} else if index, paired := at.section(program, one); paired {
			one.addTo(sections, index)
		} else {
			one.addTo(unpaired, at.unpaired(program, one))
		}
	}
	report.Sections, report.Unpaired = listed(sections), listed(unpaired)
	for _, one := range elsewhere {
		report.Elsewhere = append(report.Elsewhere, *one)
	}
	sort.Slice(report.Elsewhere, func(i, j int) bool {
		a, b := report.Elsewhere[i], report.Elsewhere[j]
		return a.WaitNs > b.WaitNs || a.WaitNs == b.WaitNs && (a.File+a.Function < b.File+b.Function)
	})
	return report
}

func (s sample) addTo(waits map[int]*Section, index int) {
	if waits[index] == nil {
		waits[index] = &Section{Index: index}
	}
	waits[index].WaitNs += s.wait
	waits[index].Waits += s.count
}

func listed(waits map[int]*Section) []Section {
	list := []Section{}
	for _, one := range waits {
		list = append(list, *one)
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Index < list[j].Index })
	return list
}

// place is the frame whose lock operation was waited for, and whether it is one of the program's: the
// method's caller, or, of functions that lock for their callers, the first caller that does not.
func (s sample) place(program *analysis.Report) (frame, bool) {
	for _, at := range s.frames {
		if _, found := at.section(program, s); found {
			return at, true
		}
		if !slices.ContainsFunc(program.ForCallers, func(place analysis.Place) bool { return at.isPlace(program, place) }) {
			break
		}
	}
	if len(s.frames) == 0 {
		return frame{function: "unknown"}, false
	}
	return s.frames[0], s.frames[0].unpaired(program, s) >= 0
}

func (s sample) unlocks() bool { return strings.HasSuffix(s.method, "nlock") }

func (s sample) reads() bool {
	return strings.HasPrefix(s.method, "R") || strings.HasPrefix(s.method, "TryR")
}

// section is the section that a frame belongs to: by the line of an operation, or, since a deferred
// unlock runs where its function ends, by the lines of the function.
func (f frame) section(program *analysis.Report, of sample) (int, bool) {
	var functions []int
	for index, section := range program.Sections {
		if (section.Mode == "read") != of.reads() || !f.isFile(program.Absolute(section.Begins.File)) {
			continue
		}
		operations := section.LockedAt
		if of.unlocks() {
			operations = section.UnlockedAt
		}
		if slices.ContainsFunc(operations, func(one analysis.Operation) bool { return one.Line == f.line }) {
			return index, true
		}
		inside := f.line >= section.Begins.Line && f.line <= section.Ends.Line
		if inside && slices.ContainsFunc(operations, isDeferred) {
			functions = append(functions, index)
		}
	}
	if len(functions) == 0 {
		return 0, false
	}
	// The innermost: a closure lies within the lines of the function around it.
	return slices.MinFunc(functions, func(a, b int) int {
		return program.Sections[a].Length() - program.Sections[b].Length()
	}), true
}

// unpaired is the operation without a counterpart that stands at a frame's line; -1 if none does.
func (f frame) unpaired(program *analysis.Report, of sample) int {
	return slices.IndexFunc(program.Unpaired, func(one analysis.Unpaired) bool {
		return f.isPlace(program, one.Place) && strings.HasSuffix(one.Does, "unlock") == of.unlocks()
	})
}

func (f frame) isPlace(program *analysis.Report, place analysis.Place) bool {
	return f.line == place.Line && f.isFile(program.Absolute(place.File))
}

func isDeferred(one analysis.Operation) bool { return one.Deferred }

// isFile compares file and folder only: a program may be built elsewhere, or with -trimpath.
func (f frame) isFile(ours string) bool {
	return filepath.Base(f.file) == filepath.Base(ours) &&
		filepath.Base(filepath.Dir(f.file)) == filepath.Base(filepath.Dir(ours))
}

package analysis

import (
	"go/token"
	"path/filepath"
	"slices"
	"sort"

	"golang.org/x/tools/go/ssa"
)

// A Report is the result of the analysis of a program.
type Report struct {
	Version int `json:"version"`
	// Directory is the base of relative places.
	Directory string     `json:"directory"`
	Packages  []string   `json:"packages"`
	Locks     []Lock     `json:"locks"`
	Sections  []Section  `json:"sections"`
	Unpaired  []Unpaired `json:"unpaired"`
	// ForCallers are the places of operations that functions do for their callers.
	ForCallers []Place `json:"for_callers"`
	// Benchmarks are functions of the packages' tests, with the package's path.
	Benchmarks []string `json:"benchmarks"`
}

// A Lock is one object, or all objects of one field.
type Lock struct {
	Name string `json:"name"`
	// Kind is Mutex, RWMutex or Locker.
	Kind string `json:"kind"`
	// Holder is field, global, local, element or unknown.
	Holder   string `json:"holder"`
	Declared *Place `json:"declared"`
}

// A Section is a critical section.
type Section struct {
	Function string `json:"function"`
	// Begins and Ends are the lines of the function.
	Begins Place `json:"begins"`
	Ends   Place `json:"ends"`
	// Locks names the locks that it may hold; more than one where the pointer may have several values.
	Locks []string `json:"locks"`
	Mode  string   `json:"mode"`
	// Rule is dominance (one lock dominates one unlock, which post-dominates it), defer, or paths
	// (every way from a lock ends at an unlock, and none reaches it without).
	Rule string `json:"rule"`
	// SameLock is sure (the same place in memory) or may (their sets of objects meet).
	SameLock     string      `json:"same_lock"`
	LockedAt     []Operation `json:"locked_at"`
	UnlockedAt   []Operation `json:"unlocked_at"`
	Instructions int         `json:"instructions"`
	Calls        int         `json:"calls"`
	Loops        int         `json:"loops"`
	Allocations  int         `json:"allocations"`
	MapAccesses  int         `json:"map_accesses"`
	// OnlyCounts reports whether all it changes are whole numbers that it adds to.
	OnlyCounts bool     `json:"only_counts"`
	ReadsOnly  bool     `json:"reads_only"`
	Reads      []string `json:"reads"`
	Writes     []string `json:"writes"`
	Effects    []Effect `json:"effects"`
	Panics     []Place  `json:"panics"`
}

// Length is the number of lines of the section's function, less one.
func (s Section) Length() int { return s.Ends.Line - s.Begins.Line }

// An Operation is where a section locks or unlocks.
type Operation struct {
	Place
	Deferred bool `json:"deferred"`
	// Via is the function called here that does it; Written is where that calls package sync.
	Via     string `json:"via"`
	Written Place  `json:"written"`
}

// An Unpaired operation has no counterpart.
type Unpaired struct {
	Function string   `json:"function"`
	Place    Place    `json:"place"`
	Locks    []string `json:"locks"`
	Does     string   `json:"does"`
	Reason   string   `json:"reason"`
	// ForCaller reports whether it is what the function is called for.
	ForCaller bool `json:"for_caller"`
}

// Analyze reports on packages, named as the go command names them.
func Analyze(directory string, patterns []string) (*Report, error) {
	directory, err := filepath.Abs(directory)
	if err != nil {
		return nil, err
	}
	program, err := load(directory, patterns)
	if err != nil {
		return nil, err
	}
	return program.report(), nil
}

// Absolute is the whole path of a file of the report.
func (r *Report) Absolute(file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(r.Directory, file)
}

func (p *program) report() *Report {
	report := &Report{Version: 1, Directory: p.directory, Locks: []Lock{}, Sections: []Section{}, Unpaired: []Unpaired{}, ForCallers: []Place{}}
	for _, one := range p.packages {
		report.Packages = append(report.Packages, one.PkgPath)
	}
	report.Benchmarks = benchmarksOf(p.packages)
	locks := map[string]Lock{}
	for _, function := range p.functions {
		summary := p.summaryOf(function)
		for _, section := range summary.sections {
			report.Sections = append(report.Sections, p.sectionReport(section))
			p.addLocks(locks, section.locks)
		}
		for _, left := range summary.unpaired {
			if left.forCaller {
				report.ForCallers = append(report.ForCallers, p.placeOf(left.operation.instruction))
			}
			if left.operation.via == "" {
				report.Unpaired = append(report.Unpaired, p.unpairedReport(left))
				p.addLocks(locks, []*operation{left.operation})
			}
		}
	}
	for _, lock := range locks {
		report.Locks = append(report.Locks, lock)
	}
	sort.Slice(report.Locks, func(i, j int) bool { return report.Locks[i].Name < report.Locks[j].Name })
	sort.SliceStable(report.Sections, func(i, j int) bool {
		return before(report.Sections[i].LockedAt[0].Place, report.Sections[j].LockedAt[0].Place)
	})
	sort.SliceStable(report.Unpaired, func(i, j int) bool {
		return before(report.Unpaired[i].Place, report.Unpaired[j].Place)
	})
	return report
}

func before(a, b Place) bool {
	return a.File < b.File || a.File == b.File && a.Line < b.Line
}

func (p *program) sectionReport(section *section) Section {
	found := p.contentsOf(section)
	first := section.locks[0]
	made := Section{
		Function:     functionName(section.function),
		Begins:       p.place(section.function.Pos()),
		Ends:         p.place(endOf(section.function)),
		Locks:        p.lockNames(section.locks),
		Mode:         "write",
		Rule:         section.rule,
		SameLock:     "sure",
		Instructions: found.instructions,
		Calls:        found.calls,
		Loops:        found.loops,
		Allocations:  found.allocations,
		MapAccesses:  found.maps,
		Reads:        sorted(found.reads),
		Writes:       sorted(found.writes),
		Effects:      found.effects,
		Panics:       []Place{},
	}
	if first.read {
		made.Mode = "read"
	}
	if made.Effects == nil {
		made.Effects = []Effect{}
	}
	made.ReadsOnly = len(made.Writes) == 0 && !slices.ContainsFunc(made.Effects, isChange)
	made.OnlyCounts = found.additions > 0 && found.additions == found.plainWrites && found.calls == 0 &&
		found.maps == 0 && found.loops == 0 && len(made.Writes) > 0 && len(made.Effects) == 0
	for _, unlock := range section.unlocks {
		if !first.isSame(unlock) {
			made.SameLock = "may"
		}
		made.UnlockedAt = append(made.UnlockedAt, p.operationReport(unlock))
	}
	for _, lock := range section.locks {
		made.LockedAt = append(made.LockedAt, p.operationReport(lock))
	}
	for _, panics := range section.panics {
		made.Panics = append(made.Panics, p.placeOf(panics))
	}
	return made
}

// isChange reports whether an effect may change guarded or unknown data.
func isChange(effect Effect) bool {
	return effect.What == "unknown" || effect.What == "goroutine" || effect.What == "channel"
}

func endOf(function *ssa.Function) token.Pos {
	if syntax := function.Syntax(); syntax != nil {
		return syntax.End()
	}
	return function.Pos()
}

func (p *program) operationReport(one *operation) Operation {
	return Operation{p.placeOf(one.instruction), one.deferred, one.via, one.written}
}

func (p *program) unpairedReport(left *unpaired) Unpaired {
	does := "unlock"
	if left.operation.lock {
		does = "lock"
	}
	if left.operation.read {
		does = "r" + does
	}
	return Unpaired{
		Function:  functionName(left.function),
		Place:     p.placeOf(left.operation.instruction),
		Locks:     p.lockNames([]*operation{left.operation}),
		Does:      does,
		Reason:    left.reason,
		ForCaller: left.forCaller,
	}
}

func (p *program) lockNames(operations []*operation) []string {
	names := map[string]bool{}
	for _, one := range operations {
		for _, name := range one.objects {
			names[name] = true
		}
	}
	return sorted(names)
}

func (p *program) addLocks(locks map[string]Lock, operations []*operation) {
	for _, one := range operations {
		for _, name := range one.objects {
			known, listed := locks[name]
			if listed && known.Declared != nil {
				continue
			}
			made := Lock{Name: name, Kind: one.kind, Holder: holderOf(one, name)}
			if one.declared.IsValid() && len(one.objects) == 1 {
				place := p.place(one.declared)
				made.Declared = &place
			}
			locks[name] = made
		}
	}
}

func holderOf(one *operation, name string) string {
	if len(name) > 1 && (name[len(name)-2:] == "[]" || name[len(name)-2:] == "{}") {
		return "element"
	}
	if len(one.objects) > 1 {
		return "unknown"
	}
	return holderOfPath(one)
}

func holderOfPath(one *operation) string {
	steps := one.path.steps
	for i := len(steps) - 1; i >= 0; i-- {
		switch steps[i][0] {
		case '.':
			return "field"
		case '[', '{':
			return "element"
		}
	}
	switch one.path.root.(type) {
	case *ssa.Global:
		return "global"
	case *ssa.Alloc:
		return "local"
	}
	return "unknown"
}

package main

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"

	"github.com/cilium/ebpf"
	"go.opentelemetry.io/ebpf-profiler/support"
)

// triggerPoint is the tracepoint that the ledger's program fires where it wants a stack. The kernel has it
// for tests and benchmarks of tracing programs, from Linux 6.10 on.
var triggerPoint = "bpf_trigger_tp"

// Names of maps of the unwinder.
const (
	callsName   = "perf_progs"
	recordsName = "per_cpu_records"
)

// callNumbers are the places of the unwinder's programs in its table of tail calls.
var callNumbers = map[string]uint32{
	"perf_unwind_stop":     support.ProgUnwindStop,
	"perf_unwind_native":   support.ProgUnwindNative,
	"perf_unwind_hotspot":  support.ProgUnwindHotspot,
	"perf_unwind_perl":     support.ProgUnwindPerl,
	"perf_unwind_php":      support.ProgUnwindPHP,
	"perf_unwind_python":   support.ProgUnwindPython,
	"perf_unwind_ruby":     support.ProgUnwindRuby,
	"perf_unwind_v8":       support.ProgUnwindV8,
	"perf_unwind_dotnet":   support.ProgUnwindDotnet,
	"perf_unwind_dotnet10": support.ProgUnwindDotnet10,
	"perf_go_labels":       support.ProgGoLabels,
	"perf_unwind_beam":     support.ProgUnwindBEAM,
}

// chain are the unwinder's programs for the tracepoint.
type chain struct {
	entry *ebpf.Program
	// calls has the others; without a descriptor of it they would be gone.
	calls *ebpf.Map
}

// loadChain loads the programs of a loaded unwinder once more, for the tracepoint: programs of perf events
// cannot be called there. They share the maps of the unwinder, except the one of their tail calls and that
// of the stack under way. It calls progress from several goroutines after each program.
func loadChain(progress func()) (*chain, error) {
	spec, err := support.LoadCollectionSpec()
	if err != nil {
		return nil, fmt.Errorf("reading the unwinder: %w", err)
	}
	shared := ownMaps()
	for _, name := range []string{callsName, recordsName} {
		if shared[shortened(name)], err = ebpf.NewMap(spec.Maps[name]); err != nil {
			return nil, fmt.Errorf("map %s: %w", name, err)
		}
	}
	made := &chain{calls: shared[callsName]}
	programs, failed := map[string]*ebpf.Program{}, error(nil)
	var loading sync.WaitGroup
	var found sync.Mutex
	free := make(chan struct{}, runtime.GOMAXPROCS(0))
	for _, name := range append(slices.Collect(maps.Keys(callNumbers)), entryName) {
		loading.Go(func() {
			free <- struct{}{}
			defer func() { <-free }()
			program, err := loadForTracepoint(spec, name, shared)
			progress()
			found.Lock()
			defer found.Unlock()
			if err != nil {
				failed = fmt.Errorf("program %s: %w", name, err)
			}
			programs[name] = program
		})
	}
	loading.Wait()
	if failed != nil {
		return nil, failed
	}
	for name, number := range callNumbers {
		if err := made.calls.Update(number, uint32(programs[name].FD()), ebpf.UpdateAny); err != nil {
			return nil, fmt.Errorf("call of %s: %w", name, err)
		}
	}
	made.entry = programs[entryName]
	return made, nil
}

// loadForTracepoint loads a program of the unwinder with maps by the first bytes of their names.
func loadForTracepoint(
	spec *ebpf.CollectionSpec, name string, shared map[string]*ebpf.Map,
) (*ebpf.Program, error) {
	program := spec.Programs[name]
	if program == nil {
		return nil, errOtherVersion
	}
	program.Type, program.AttachType, program.AttachTo = ebpf.Tracing, ebpf.AttachTraceRawTp, triggerPoint
	for known := range spec.Maps {
		if one := shared[shortened(known)]; one != nil {
			// Not each program has each map.
			_ = program.Instructions.AssociateMap(known, one)
		}
	}
	withoutRegisters(program.Instructions)
	return ebpf.NewProgram(program)
}

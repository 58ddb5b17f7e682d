package main

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"
)

//go:embed bpf/filter.bpf.o
var filterObject []byte

// cpuHz is how often each CPU is looked at. A prime number, so that it stays in step with nothing.
const cpuHz = 49

// pulls is how often a trigger is tried before it is believed.
const pulls = 16

// Programs of the filter that need the tracepoint.
const (
	triggerProgram = "on_trigger"
	tryingProgram  = "try_trigger"
)

// filter are the programs that run before the unwinder.
type filter struct {
	programs *ebpf.Collection
	stays    *ebpf.Map
	trigger  link.Link // an unreferenced one would be closed
}

// loadFilter loads the filter, which calls the unwinder's programs ofEvents and ofTracepoint. The latter
// is nil on a kernel without the tracepoint.
func loadFilter(maps []*os.File, ofEvents, ofTracepoint *ebpf.Program) (*filter, error) {
	spec, err := ebpf.LoadCollectionSpecFromReader(bytes.NewReader(filterObject))
	if err != nil {
		return nil, fmt.Errorf("filter: %w", err)
	}
	lent := map[string]*ebpf.Map{}
	for i, name := range []string{"sampling", "asked", "stays", "targets", "watched"} {
		descriptor, err := unix.FcntlInt(maps[i].Fd(), unix.F_DUPFD_CLOEXEC, 0)
		if err != nil {
			return nil, fmt.Errorf("map %s: %w", name, err)
		}
		if lent[name], err = ebpf.NewMapFromFD(descriptor); err != nil {
			return nil, fmt.Errorf("map %s: %w", name, err)
		}
	}
	entries := map[string]*ebpf.Program{"of_events": ofEvents, "of_tracepoint": ofTracepoint}
	if ofTracepoint == nil {
		delete(entries, "of_tracepoint")
		delete(spec.Programs, triggerProgram)
		delete(spec.Programs, tryingProgram)
	}
	made, err := ebpf.NewCollectionWithOptions(spec, ebpf.CollectionOptions{MapReplacements: lent})
	if err != nil {
		return nil, fmt.Errorf("filter: %w", err)
	}
	for name, entry := range entries {
		if err := made.Maps[name].Update(uint32(0), uint32(entry.FD()), ebpf.UpdateAny); err != nil {
			return nil, fmt.Errorf("filter: %w", err)
		}
	}
	return &filter{programs: made, stays: lent["stays"]}, nil
}

// unwound gives how often the unwinder was called.
func (f *filter) unwound() uint64 {
	var each []uint64
	if err := f.programs.Maps["unwound"].Lookup(uint32(0), &each); err != nil {
		return 0
	}
	sum := uint64(0)
	for _, one := range each {
		sum += one
	}
	return sum
}

// events are perf events, one for each CPU, which call a program of the filter.
type events []int

// open opens events that do not count yet.
func (f *filter) open(program string, attributes unix.PerfEventAttr) (events, error) {
	cpus, err := onlineCPUs()
	if err != nil {
		return nil, err
	}
	attributes.Size = uint32(unsafe.Sizeof(attributes))
	attributes.Bits |= unix.PerfBitDisabled
	var opened events
	for _, cpu := range cpus {
		event, err := unix.PerfEventOpen(&attributes, -1, cpu, -1, unix.PERF_FLAG_FD_CLOEXEC)
		if err == nil {
			opened = append(opened, event)
			err = unix.IoctlSetInt(event, unix.PERF_EVENT_IOC_SET_BPF, f.programs.Programs[program].FD())
		}
		if err != nil {
			opened.close()
			return nil, fmt.Errorf("CPU %d: %w", cpu, err)
		}
	}
	return opened, nil
}

// attachTrigger puts the unwinder on the tracepoint, and returns how long a stack takes there.
func (f *filter) attachTrigger() (time.Duration, error) {
	attached, err := link.AttachTracing(link.TracingOptions{Program: f.programs.Programs[triggerProgram]})
	if err != nil {
		return 0, fmt.Errorf("tracepoint %s: %w", triggerPoint, err)
	}
	took, err := f.try()
	if err != nil {
		_ = attached.Close()
		return 0, err
	}
	f.trigger = attached
	return took, nil
}

func (f *filter) openContextSwitches() (events, error) {
	attributes := unix.PerfEventAttr{
		Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_CONTEXT_SWITCHES, Sample: 1,
	}
	return f.open("on_context_switch", attributes)
}

func (f *filter) openClock() (events, error) {
	attributes := unix.PerfEventAttr{
		Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_CPU_CLOCK, Sample: cpuHz,
		Bits: unix.PerfBitFreq,
	}
	return f.open("on_clock", attributes)
}

func (e events) enable(on bool) error {
	request := uint(unix.PERF_EVENT_IOC_DISABLE)
	if on {
		request = unix.PERF_EVENT_IOC_ENABLE
	}
	for _, event := range e {
		if err := unix.IoctlSetInt(event, request, 0); err != nil {
			return fmt.Errorf("perf event: %w", err)
		}
	}
	return nil
}

func (e events) close() {
	for _, event := range e {
		_ = unix.Close(event)
	}
}

// try pulls the trigger in this thread, and returns how long that takes at least, with the unwinder in it.
func (f *filter) try() (time.Duration, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := f.unwound()
	least := time.Hour
	for range pulls {
		begun := time.Now()
		if _, err := f.programs.Programs[tryingProgram].Run(&ebpf.RunOptions{}); err != nil {
			return 0, fmt.Errorf("trying the trigger: %w", err)
		}
		least = min(least, time.Since(begun))
	}
	if f.unwound()-before < pulls {
		return 0, errors.New("the tracepoint does not reach the unwinder")
	}
	return max(least, 1), nil
}

func onlineCPUs() ([]int, error) {
	text, err := os.ReadFile("/sys/devices/system/cpu/online")
	if err != nil {
		return nil, fmt.Errorf("online CPUs: %w", err)
	}
	var cpus []int
	for part := range strings.SplitSeq(strings.TrimSpace(string(text)), ",") {
		low, high, isRange := strings.Cut(part, "-")
		if !isRange {
			high = low
		}
		first, err := strconv.Atoi(low)
		if err != nil {
			return nil, fmt.Errorf("online CPUs: %w", err)
		}
		last, err := strconv.Atoi(high)
		if err != nil {
			return nil, fmt.Errorf("online CPUs: %w", err)
		}
		for cpu := first; cpu <= last; cpu++ {
			cpus = append(cpus, cpu)
		}
	}
	return cpus, nil
}

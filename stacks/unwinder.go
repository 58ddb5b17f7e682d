package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/cilium/ebpf"
	"go.opentelemetry.io/ebpf-profiler/libpf"
	"go.opentelemetry.io/ebpf-profiler/log"
	"go.opentelemetry.io/ebpf-profiler/metrics"
	"go.opentelemetry.io/ebpf-profiler/reporter/samples"
	"go.opentelemetry.io/ebpf-profiler/tracer"
	"go.opentelemetry.io/otel/metric/noop"
	"golang.org/x/sys/unix"
)

const (
	// Some kernels know programs by the first 15 bytes of their names.
	entryName = "native_tracer_entry"
	// Capacity of the unwinder's ring, in stacks of full length.
	ringStacks = 64
	frameCache = 32768
)

var errOtherVersion = errors.New("the unwinder has none: it is of another version")

// intervals of the unwinder's own work.
type intervals struct{}

func (intervals) MonitorInterval() time.Duration       { return time.Second }
func (intervals) TracePollInterval() time.Duration     { return 100 * time.Millisecond }
func (intervals) PIDCleanupInterval() time.Duration    { return 10 * time.Second }
func (intervals) ExecutableUnloadDelay() time.Duration { return time.Minute }

// unwinder is the loaded unwinder of go.opentelemetry.io/ebpf-profiler.
type unwinder struct {
	tracer *tracer.Tracer
	// entry is its first program, of type perf_event.
	entry *ebpf.Program
	// traces are stacks as the kernel part took them; resolve makes frames of them.
	traces chan *libpf.EbpfTrace
	frames []frame
}

// newUnwinder loads it, which takes some seconds. It takes no stack before a program calls entry.
func newUnwinder(ctx context.Context) (*unwinder, error) {
	log.SetLevel(slog.LevelError)
	metrics.Start(noop.Meter{})
	u := &unwinder{traces: make(chan *libpf.EbpfTrace)}
	made, err := tracer.NewTracer(ctx, &tracer.Config{
		TraceReporter:          u,
		Intervals:              intervals{},
		SamplesPerSecond:       ringStacks,
		FrameCacheSize:         frameCache,
		ProbabilisticInterval:  time.Minute,
		ProbabilisticThreshold: tracer.ProbabilisticThresholdMax,
		IncludeEnvVars:         libpf.Set[string]{},
	})
	if err != nil {
		return nil, fmt.Errorf("loading the unwinder: %w", err)
	}
	u.tracer = made
	if u.entry, err = findProgram(entryName); err != nil {
		made.Close()
		return nil, err
	}
	made.StartPIDEventProcessor(ctx)
	if err := made.StartMapMonitors(ctx, u.traces); err != nil {
		made.Close()
		return nil, fmt.Errorf("starting the unwinder: %w", err)
	}
	return u, nil
}

// findProgram finds a program of this process by its name: the library does not give it away.
func findProgram(name string) (*ebpf.Program, error) {
	for _, descriptor := range ownDescriptors("bpf-prog") {
		program, err := ebpf.NewProgramFromFD(descriptor)
		if err != nil {
			continue
		}
		if info, err := program.Info(); err == nil && isName(info.Name, name) && info.Type == ebpf.PerfEvent {
			return program, nil
		}
		_ = program.Close()
	}
	return nil, fmt.Errorf("program %s: %w", name, errOtherVersion)
}

// ownMaps are the maps of this process by the first bytes of their names, as the kernel knows them.
func ownMaps() map[string]*ebpf.Map {
	found := map[string]*ebpf.Map{}
	for _, descriptor := range ownDescriptors("bpf-map") {
		one, err := ebpf.NewMapFromFD(descriptor)
		if err != nil {
			continue
		}
		if info, err := one.Info(); err == nil {
			found[info.Name] = one
		}
	}
	return found
}

// ownDescriptors are copies of this process' descriptors of a kind.
func ownDescriptors(kind string) []int {
	links, _ := filepath.Glob("/proc/self/fd/*")
	var found []int
	for _, link := range links {
		target, err := os.Readlink(link)
		if err != nil || !strings.HasSuffix(target, kind) {
			continue
		}
		number, err := strconv.Atoi(filepath.Base(link))
		if err != nil {
			continue
		}
		if copied, err := unix.FcntlInt(uintptr(number), unix.F_DUPFD_CLOEXEC, 0); err == nil {
			found = append(found, copied)
		}
	}
	return found
}

// resolve gives the frames of a stack, innermost first, valid until the next call.
func (u *unwinder) resolve(trace *libpf.EbpfTrace) []frame {
	u.frames = u.frames[:0]
	u.tracer.HandleTrace(trace)
	return u.frames
}

// ReportTraceEvent takes frames from the library, within HandleTrace.
func (u *unwinder) ReportTraceEvent(trace *libpf.Trace, _ *samples.TraceEventMeta) error {
	for _, handle := range trace.Frames {
		if one := handle.Value(); !one.Type.IsError() {
			u.frames = append(u.frames, toFrame(&one))
		}
	}
	return nil
}

// Longest name of a function and of a file; longer ones are cut.
const maxName = 512

func toFrame(from *libpf.Frame) frame {
	made := frame{
		Kind:     kindOf(from.Type),
		Function: cut(from.FunctionName.String()),
		File:     cut(from.SourceFile.String()),
		Line:     uint32(from.SourceLine),
	}
	if from.Mapping.Valid() {
		file := from.Mapping.Value().File.Value()
		made.Module = cut(file.FileName.String())
		if made.Kind == "native" {
			made.BuildID = file.GnuBuildID
		}
	}
	switch made.Kind {
	case "native":
		made.Address = uint64(from.AddressOrLineno)
	case "java":
		made.Function = withoutResult(made.Function)
	}
	return made
}

func cut(text string) string {
	if len(text) > maxName {
		text = text[:maxName]
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

// withoutResult is a Java method without the type of what it returns.
func withoutResult(method string) string {
	head, rest, found := strings.Cut(method, "(")
	if !found || strings.HasSuffix(head, " ") {
		return method
	}
	return head[strings.LastIndexByte(head, ' ')+1:] + "(" + rest
}

func kindOf(kind libpf.FrameType) string {
	switch kind {
	case libpf.KernelFrame:
		return "kernel"
	case libpf.NativeFrame:
		return "native"
	case libpf.GoFrame:
		return "go"
	case libpf.PythonFrame:
		return "python"
	case libpf.HotSpotFrame:
		return "java"
	case libpf.V8Frame:
		return "v8"
	case libpf.RubyFrame:
		return "ruby"
	case libpf.PHPFrame, libpf.PHPJITFrame:
		return "php"
	case libpf.PerlFrame:
		return "perl"
	case libpf.DotnetFrame:
		return "dotnet"
	case libpf.BEAMFrame:
		return "beam"
	case libpf.LuaJITFrame:
		return "lua"
	default:
		return "unknown"
	}
}

// kernelEntries are functions of the kernel above which a stack begins that the switch or the
// wake-up of a thread made: what was asked for is below the last of them.
var kernelEntries = map[string]bool{
	"__schedule": true, "schedule": true, "preempt_schedule": true, "preempt_schedule_irq": true,
	"preempt_schedule_common": true, "preempt_schedule_notrace": true, "schedule_idle": true,
	"try_to_wake_up": true, "wake_up_q": true, "wake_up_process": true, "default_wake_function": true,
}

// trimmed is a stack without what the trigger itself put on top of it. One that ends in the kernel is
// none: the unwinder does not know the process yet, or gave up.
func trimmed(stack []frame) []frame {
	top := 0
	if len(stack) == 0 || stack[len(stack)-1].Kind == "kernel" {
		return nil
	}
	for i, one := range stack {
		if one.Kind != "kernel" {
			break
		}
		if kernelEntries[one.Function] {
			top = i + 1
		}
	}
	return stack[top:]
}

const shortName = 15

// shortened is a name as the kernel knows it.
func shortened(name string) string { return name[:min(len(name), shortName)] }

func isName(known, name string) bool { return known == name || known == shortened(name) }

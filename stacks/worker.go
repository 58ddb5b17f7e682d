package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/cilium/ebpf"
	"go.opentelemetry.io/ebpf-profiler/libpf"
	"golang.org/x/sys/unix"
)

const (
	flushInterval = 250 * time.Millisecond
	// How often it is seen to that stays of threads which are gone are forgotten.
	forgetInterval = time.Minute
	// About one stay of a kind of a thread is chosen in so much time.
	leastGap = 20 * time.Millisecond
	mostGap  = 10 * time.Second
	// Minimum length of a futex wait whose releaser is sampled.
	releaseAfter = 100 * time.Microsecond
	// Stacks that a CPU may take a second.
	stacksPerSecond = 400
	// With context switches as trigger: they are looked at for so long, so often.
	window       = 50 * time.Millisecond
	windowPeriod = 500 * time.Millisecond
)

// The collector has closed its end of the socket.
var errGone = errors.New("the collector does not listen")

// worker takes stacks until its standard input ends.
type worker struct {
	shared   *shared
	unwinder *unwinder
	filter   *filter
	chain    *chain // if the kernel has the tracepoint
	cpus     int
	records  *recordReader
	tree     *tree
	joiner   *joiner
	switches events // if they are the trigger
	status   status
	gap      time.Duration
	limited  uint64 // stays beyond the limit, when the gap was set last
}

// exitExplained is the status of a worker that has said why it failed.
const exitExplained = 2

func work() error {
	w := &worker{tree: newTree(), joiner: newJoiner(), gap: leastGap}
	w.say(status{State: stateLoading})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if err := w.load(ctx); err != nil {
		w.fail(err)
	}
	defer w.unwinder.tracer.Close()
	defer func() { w.shared.gapNs = 0 }()
	over := make(chan struct{})
	go func() {
		_, _ = os.Stdin.Read(make([]byte, 1))
		close(over)
	}()
	if err := w.run(over); err != nil && !errors.Is(err, errGone) {
		w.shared.gapNs = 0
		w.fail(err)
	}
	return nil
}

// fail says why, and ends the process.
func (w *worker) fail(why error) {
	w.say(status{State: stateFailed, Reason: why.Error()})
	fmt.Fprintln(os.Stderr, "tidscope-stacks:", why)
	os.Exit(exitExplained)
}

func (w *worker) load(ctx context.Context) error {
	if err := confine(); err != nil {
		return err
	}
	maps := make([]*os.File, mapCount)
	for i := range maps {
		maps[i] = os.NewFile(uintptr(samplingFD+i), "map")
		unix.CloseOnExec(samplingFD + i)
	}
	var err error
	if w.shared, err = mapShared(maps[0]); err != nil {
		return err
	}
	if w.unwinder, err = newUnwinder(ctx); err != nil {
		return err
	}
	var forTracepoint *ebpf.Program
	w.progress()
	chain, withoutTracepoint := loadChain(w.progress)
	if chain != nil {
		w.chain, forTracepoint = chain, chain.entry
	}
	if w.filter, err = loadFilter(maps, w.unwinder.entry, forTracepoint); err != nil {
		return err
	}
	if w.records, err = newRecordReader(w.filter.stays); err != nil {
		return err
	}
	if err := w.choose(withoutTracepoint); err != nil {
		return err
	}
	return keepRights(unwindingRights)
}

// choose lets something call the unwinder: the tracepoint, unless something speaks against it, else context
// switches.
func (w *worker) choose(why error) error {
	cpus, err := onlineCPUs()
	if err != nil {
		return err
	}
	w.cpus = len(cpus)
	w.status = status{State: stateSampling, Trigger: triggerTracepoint}
	if why == nil {
		var took time.Duration
		took, why = w.filter.attachTrigger()
		w.status.StackNs = took.Nanoseconds()
	}
	if why != nil {
		if w.switches, err = w.filter.openContextSwitches(); err != nil {
			return fmt.Errorf("nothing calls the unwinder: tracepoint: %w, context switches: %w", why, err)
		}
		w.status.Trigger = triggerContextSwitches
		w.status.Reason = fmt.Sprintf("no tracepoint: %v", why)
	}
	clock, err := w.filter.openClock()
	if err == nil {
		err = clock.enable(true)
	}
	if err != nil {
		w.status.Reason = fmt.Sprintf("threads on CPUs are not looked at: %v", err)
		return nil
	}
	w.status.CPUHz = cpuHz
	return nil
}

func (w *worker) run(over <-chan struct{}) error {
	w.shared.releaseNs = uint64(releaseAfter)
	w.shared.costNs = uint64(time.Second / stacksPerSecond)
	w.limited = w.shared.beyondLimit
	if w.status.Trigger == triggerTracepoint {
		w.shared.gapNs = uint64(w.gap)
	} else {
		// The waker's stack would be that of its next switch.
		w.shared.releaseNs = uint64(time.Hour)
		w.joiner.windows = uint32(windowPeriod / window)
		stop := make(chan struct{})
		defer close(stop)
		go w.openWindows(stop)
	}
	w.say(w.status)
	flush, forget := time.NewTicker(flushInterval), time.NewTicker(forgetInterval)
	defer flush.Stop()
	defer forget.Stop()
	for {
		select {
		case <-over:
			w.shared.gapNs = 0
			return w.flush()
		case <-w.unwinder.tracer.Done():
			return errors.New("the unwinder ended")
		case trace := <-w.unwinder.traces:
			w.take(trace)
		case <-flush.C:
			if err := w.flush(); err != nil {
				return err
			}
		case <-forget.C:
			w.joiner.forget(isGone)
		}
	}
}

// openWindows lets stays be chosen in windows of time, in which all context switches are looked at.
func (w *worker) openWindows(stop <-chan struct{}) {
	for {
		_ = w.switches.enable(true)
		w.shared.gapNs = uint64(max(w.gap/time.Duration(windowPeriod/window), time.Millisecond))
		time.Sleep(window)
		w.shared.gapNs = 0
		_ = w.switches.enable(false)
		select {
		case <-stop:
			return
		case <-time.After(windowPeriod - window):
		}
	}
}

// take takes in a stack. Between two batches the unwinder sends nil.
func (w *worker) take(trace *libpf.EbpfTrace) {
	if trace == nil {
		return
	}
	one := unwound{at: uint64(trace.KTime), thread: uint32(trace.TID)}
	one.node = w.tree.add(trimmed(w.unwinder.resolve(trace)))
	w.joiner.addStack(one)
}

// flush sends what is complete.
func (w *worker) flush() error {
	records, err := w.records.all()
	if err != nil {
		return err
	}
	beyond := w.shared.beyondLimit - w.limited
	w.limited += beyond
	weigh(records, beyond)
	for _, one := range records {
		w.joiner.add(one)
	}
	samples := w.joiner.join(monotonicNs())
	firstFrame, frames, firstNode, nodes := w.tree.take()
	counts := w.joiner.counts
	counts[countBeyondLimit] += w.shared.beyondLimit
	counts[countNoRoom] += w.shared.noRoom
	counts[countBeyondBound] += w.tree.cut
	messages := encodeFrames(firstFrame, frames)
	messages = append(messages, encodeNodes(firstNode, nodes)...)
	messages = append(messages, encodeSamples(samples)...)
	for _, message := range append(messages, encodeCounts(counts)) {
		if _, err := unix.Write(socketFD, message); err != nil {
			return errGone
		}
	}
	w.gap = nextGap(w.gap, wanted(records), beyond, w.cpus)
	if w.status.Trigger == triggerTracepoint {
		w.shared.gapNs = uint64(w.gap)
	}
	return nil
}

// nextGap is the gap after a flush in which CPUs took some stacks, and would have taken others that were
// beyond their limit.
//
// CPUs are to take half of what they may. At the limit a stay that begins after a pause would be chosen
// rather than one that begins soon after others, and so the one with more probability than the other.
// The first stays of a new thread are all chosen, whatever the gap. So it grows by a quarter at most: a
// burst of new threads must not leave the others without samples for long.
func nextGap(gap time.Duration, taken, beyond uint64, cpus int) time.Duration {
	most := float64(stacksPerSecond*cpus) * flushInterval.Seconds()
	factor := float64(taken+beyond) / (most / 2)
	factor = min(max(factor, 0.9), 1.25)
	return min(max(time.Duration(float64(gap)*factor), leastGap), mostGap)
}

func (w *worker) say(one status) { _, _ = unix.Write(socketFD, encodeStatus(one)) }

// progress tells the collector that loading goes on, which takes long on a busy machine: without a word
// for a minute it would give this worker up.
func (w *worker) progress() { _, _ = unix.Write(socketFD, encodeCounts(w.joiner.counts)) }

func isGone(process, thread uint32) bool {
	return unix.Tgkill(int(process), int(thread), 0) == unix.ESRCH
}

func monotonicNs() uint64 {
	var now unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &now)
	return uint64(now.Nano())
}

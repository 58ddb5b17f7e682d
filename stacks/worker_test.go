package main

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestTheGapKeepsCPUsAtHalfOfWhatTheyMayTake(t *testing.T) {
	const cpus = 2
	most := float64(stacksPerSecond*cpus) * flushInterval.Seconds()
	for _, stacks := range []float64{0.1 * most, most, 3 * most, 20 * most} {
		// The least gap would choose `stacks` a flush; those beyond the limit are not taken.
		gap, chosen := leastGap, 0.0
		for range 200 {
			chosen = stacks * float64(leastGap) / float64(gap)
			taken := min(chosen, most)
			gap = nextGap(gap, uint64(taken), uint64(chosen-taken), cpus)
		}
		if want := min(stacks, most/2); chosen < 0.8*want || chosen > 1.2*want {
			t.Error("of", stacks, "chosen", chosen, "want", want)
		}
	}
}

func TestTheGapIsBoundedAndRecovers(t *testing.T) {
	gap := leastGap
	if nextGap(gap, 0, 0, 2) != leastGap {
		t.Fatal("it shrinks below its least")
	}
	for range 1000 {
		next := nextGap(gap, 100, 1000, 2)
		if next > gap*5/4 {
			t.Fatal("it grows fast", gap, next)
		}
		gap = next
	}
	if gap != mostGap {
		t.Fatal(gap)
	}
	var flushes time.Duration
	for gap = 10 * leastGap; gap > leastGap; flushes++ {
		gap = nextGap(gap, 10, 0, 2)
	}
	if flushes*flushInterval > 10*time.Second {
		t.Fatal("a burst silences others for long:", flushes*flushInterval)
	}
}

func TestAStackIsWithoutWhatTheTriggerPutOnTop(t *testing.T) {
	kernel := func(function string) frame { return frame{Kind: "kernel", Function: function} }
	own := frame{Kind: "native", Function: "serve"}
	for _, one := range []struct {
		stack []frame
		top   string
	}{
		{[]frame{kernel("bpf_prog"), kernel("__schedule"), kernel("schedule"), kernel("futex_do_wait"), own}, "futex_do_wait"},
		{[]frame{kernel("bpf_prog"), kernel("try_to_wake_up"), kernel("wake_up_q"), kernel("futex_wake"), own}, "futex_wake"},
		{[]frame{kernel("do_futex"), own}, "do_futex"},
		{[]frame{own, kernel("schedule"), own}, "serve"},
		{[]frame{own}, "serve"},
	} {
		if found := trimmed(one.stack); len(found) == 0 || found[0].Function != one.top {
			t.Fatal(found, one.top)
		}
	}
}

// The unwinder does not know the process yet, or gave up.
func TestAStackThatEndsInTheKernelIsNone(t *testing.T) {
	if trimmed(nil) != nil || trimmed([]frame{{Kind: "kernel", Function: "do_futex"}}) != nil {
		t.Fatal("a stack")
	}
}

func TestNamesAreCutAndWellFormed(t *testing.T) {
	long := cut(strings.Repeat("\u00e4", maxName))
	if len(long) > maxName+3 || !utf8.ValidString(long) || cut("main\xff") != "main\uFFFD" || cut("a") != "a" {
		t.Fatal(long)
	}
}

func TestMethodsOfJavaAreWithoutTheirResults(t *testing.T) {
	for method, want := range map[string]string{
		"void a.B.c(int, java.lang.String)":   "a.B.c(int, java.lang.String)",
		"java.util.List<a.B> a.B.c()":         "a.B.c()",
		"a.B.<init>()":                        "a.B.<init>()",
		"StubRoutines (1) [call_stub_return]": "StubRoutines (1) [call_stub_return]",
		"Interpreter":                         "Interpreter",
	} {
		if found := withoutResult(method); found != want {
			t.Errorf("%q of %q", found, method)
		}
	}
}

func TestNamesOfProgramsMayBeCutByTheKernel(t *testing.T) {
	for known, want := range map[string]bool{
		entryName: true, entryName[:15]: true, entryName[:14]: false, "native_tracer_x": false, "": false,
	} {
		if isName(known, entryName) != want {
			t.Error(known)
		}
	}
}

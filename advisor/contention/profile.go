// Package contention joins what was measured of locks with the places of lock operations.
package contention

import (
	"fmt"
	"os"
	"strings"

	"github.com/google/pprof/profile"
)

// A Profile is a mutex profile (who held a lock that others waited for, and where it was unlocked)
// or a block profile (who waited, and where it locked).
type Profile struct {
	// Seconds is the time it covers; 0 if the file does not say.
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

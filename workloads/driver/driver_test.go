package workload

import (
	"math"
	"testing"
	"time"
)

func TestStepsHoldWhatTheyAreNamedFor(t *testing.T) {
	for _, nanoseconds := range []uint64{0, 1, 31, 32, 63, 64, 65, 1000, 123_456, 1 << 40, math.MaxInt64} {
		found, wanted := middleOf(stepOf(nanoseconds)), float64(nanoseconds)/1e3
		if math.Abs(found-wanted) > wanted/60+1e-9 {
			t.Errorf("%d ns are in the step of %g µs", nanoseconds, found)
		}
	}
}

func TestLatenciesBetweenTwoMoments(t *testing.T) {
	var figures Figures
	first, other := figures.Latencies(), figures.Latencies()
	first.Add(time.Hour)
	figures.Begin()
	for range 90 {
		first.Add(100 * time.Microsecond)
	}
	for range 10 {
		other.Add(1100 * time.Microsecond)
	}
	found := figures.End()
	wanted := map[string]float64{
		"mean_us": 200, "deviation_us": 300, "p50_us": 100, "p95_us": 1100, "p99_us": 1100,
	}
	for name, value := range wanted {
		if math.Abs(found[name]-value) > value/30 {
			t.Errorf("%s is %g, not %g", name, found[name], value)
		}
	}
}

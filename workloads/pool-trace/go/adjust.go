package main

import (
	"math"
	"sync"
	"time"
)

const (
	stride    = 2
	threshold = 0.01
)

// An adjuster changes the size of a pool by dynamicThreadPool, figure 6.8 of Xu's thesis, exactly as
// printed, at the end of each cycle of finished jobs. The print leaves the first two cycles open: the
// pool grows in them. The policy ait-printed applies the same rule once an interval.
type adjuster struct {
	cycle  int // 0: the size stays
	most   int
	resize func(int)

	mutex       sync.Mutex
	jobs        int
	waited      time.Duration
	size        int
	preSize     int
	pre, prepre float64 // seconds; NaN: there is none
}

func newAdjuster(cycle, size, most int, resize func(int)) *adjuster {
	none := math.NaN()
	return &adjuster{cycle: cycle, most: most, resize: resize, size: size, pre: none, prepre: none}
}

// finished notes a finished job that waited in the queue, and adjusts the pool if its cycle is full.
func (a *adjuster) finished(waited time.Duration) {
	if a.cycle == 0 {
		return
	}
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.jobs++
	a.waited += waited
	if a.jobs < a.cycle {
		return
	}
	current := a.waited.Seconds() / float64(a.jobs)
	a.jobs, a.waited = 0, 0
	a.size = min(max(a.size+a.step(current), 1), a.most)
	a.resize(a.size)
	a.prepre, a.pre, a.preSize = a.pre, current, a.size
}

func (a *adjuster) step(current float64) int {
	switch helped := a.pre < a.prepre; {
	case math.IsNaN(a.prepre):
		return stride
	case math.Abs(current-a.pre) <= threshold*a.pre:
		if a.preSize != a.size {
			return 0
		}
		return stride
	case current > a.pre && helped:
		return -stride
	case current > a.pre || helped:
		return stride
	default:
		return 0
	}
}

package main

import (
	"slices"
	"testing"
	"time"
)

// Each cycle has five jobs with the same wait; afterwards the pool has the size beside it.
func TestAdjustsOnceACycleAsPrinted(t *testing.T) {
	var set []int
	pool := newAdjuster(5, 4, 11, func(size int) { set = append(set, size) })
	for _, wait := range []time.Duration{100, 80, 60, 70, 75, 50, 40, 40, 40} {
		for job := 0; job < 5; job++ {
			pool.finished(wait * time.Millisecond)
		}
	}
	// Two cycles without anything to compare; better; worse after better; worse after worse;
	// better after worse; better after better; twice about the same, up to the bound.
	if want := []int{6, 8, 10, 8, 10, 10, 11, 11, 11}; !slices.Equal(set, want) {
		t.Errorf("sizes %v, want %v", set, want)
	}
}

func TestStaysWithoutACycle(t *testing.T) {
	pool := newAdjuster(0, 4, 8, func(int) { t.Error("the pool was resized") })
	for job := 0; job < 100; job++ {
		pool.finished(time.Millisecond)
	}
}

package tidscope

import (
	"sync"
	"sync/atomic"
	"testing"
)

func TestCounterLosesNothing(t *testing.T) {
	var counter Counter
	var group sync.WaitGroup
	for range [100]struct{}{} {
		group.Add(1)
		go func() {
			defer group.Done()
			for i := 0; i < 1000; i++ {
				counter.Add(3)
			}
		}()
	}
	group.Wait()
	if got := counter.Load(); got != 300_000 {
		t.Fatalf("counted %d of 300000", got)
	}
}

func TestGoroutinesUseSeveralShards(t *testing.T) {
	var counter Counter
	var group sync.WaitGroup
	together := make(chan struct{})
	for range [64]struct{}{} {
		group.Add(1)
		go func() {
			defer group.Done()
			<-together
			counter.Add(1)
		}()
	}
	close(together)
	group.Wait()
	used := 0
	for i := range counter.shards {
		if counter.shards[i].count.Load() > 0 {
			used++
		}
	}
	// 64 balls in 64 urns leave 40 with at least one; fewer than 16 is no accident.
	if used < 16 {
		t.Fatalf("64 goroutines used %d shards", used)
	}
}

func BenchmarkCounter(b *testing.B) {
	var counter Counter
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			counter.Add(1)
		}
	})
	if counter.Load() != uint64(b.N) {
		b.Fatalf("%d of %d", counter.Load(), b.N)
	}
}

// What the shards are compared with.
func BenchmarkOneAtomic(b *testing.B) {
	var counter atomic.Uint64
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			counter.Add(1)
		}
	})
}

// The loop without a counter, to be taken off.
func BenchmarkNothing(b *testing.B) {
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
		}
	})
}

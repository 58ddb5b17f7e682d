package tidscope

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func answerOf(t *testing.T, name string) poolAnswer {
	t.Helper()
	pools, _ := readPools()
	for _, pool := range pools {
		if pool.Name == name {
			return pool
		}
	}
	t.Fatalf("%s is not reported", name)
	return poolAnswer{}
}

func sum(counts []int64) (total int64) {
	for _, count := range counts {
		total += count
	}
	return total
}

func TestPoolCountsItsJobs(t *testing.T) {
	pool := NewPool("counted", 3)
	failure := errors.New("on purpose")
	for i := 0; i < 1000; i++ {
		fails := i%10 == 0
		if err := pool.Submit(func() error {
			if fails {
				return failure
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	pool.Close()
	if err := pool.Submit(func() error { return nil }); !errors.Is(err, ErrClosed) {
		t.Fatal(err)
	}
	got := answerOf(t, "counted")
	if *got.Submitted != 1000 || *got.Started != 1000 || *got.Finished != 1000 || *got.Failed != 100 {
		t.Fatalf("%d %d %d %d", *got.Submitted, *got.Started, *got.Finished, *got.Failed)
	}
	if *got.ResponseNs != *got.QueueWaitNs+*got.RunNs {
		t.Fatal("response is not queue wait and run")
	}
	if sum(got.Response) != 1000 || sum(got.QueueWait) != 1000 {
		t.Fatal("histograms do not have all jobs")
	}
	if *got.Size != 0 || *got.Busy != 0 || *got.Queue != 0 {
		t.Fatal("a closed pool has no workers")
	}
}

func TestPoolsOfOneNameAreAddedUp(t *testing.T) {
	for i := 0; i < 3; i++ {
		pool := NewPool("again", 2)
		pool.Submit(func() error { return nil })
		pool.Close()
	}
	if got := *answerOf(t, "again").Finished; got != 3 {
		t.Fatalf("%d of 3", got)
	}
}

func TestResizingInterruptsNoJob(t *testing.T) {
	pool := NewPool("resized", 1)
	begun, free := make(chan struct{}), make(chan struct{})
	job := func() error { begun <- struct{}{}; <-free; return nil }
	for i := 0; i < 4; i++ {
		pool.Submit(job)
	}
	<-begun
	pool.Resize(4)
	for i := 0; i < 3; i++ {
		<-begun
	}
	pool.Resize(1)
	got := answerOf(t, "resized")
	if *got.Size != 4 || *got.Busy != 4 || *got.Queue != 0 {
		t.Fatalf("size %d busy %d queue %d", *got.Size, *got.Busy, *got.Queue)
	}
	close(free)
	pool.Close()
	if got := *answerOf(t, "resized").Finished; got != 4 {
		t.Fatalf("%d of 4", got)
	}
}

func TestWatchedPoolIsReported(t *testing.T) {
	watched := Watch("own", func() int { return 2 })
	jobs := make(chan func() error, 100)
	for i := 0; i < 100; i++ {
		jobs <- watched.Wrap(func() error { return nil })
	}
	close(jobs)
	if got := *answerOf(t, "own").Queue; got != 100 {
		t.Fatalf("%d wait", got)
	}
	var group sync.WaitGroup
	for i := 0; i < 2; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for job := range jobs {
				job()
			}
		}()
	}
	group.Wait()
	got := answerOf(t, "own")
	if *got.Finished != 100 || *got.Queue != 0 || *got.Busy != 0 || *got.Size != 2 {
		t.Fatalf("%d %d %d %d", *got.Finished, *got.Queue, *got.Busy, *got.Size)
	}
}

func TestBuckets(t *testing.T) {
	for ns, want := range map[int64]int{-1: 0, 0: 0, 1023: 0, 1024: 1, 2047: 1, 2048: 2, 1 << 62: 31} {
		if got := bucketOf(ns); got != want {
			t.Fatalf("%d ns is in %d, not %d", ns, got, want)
		}
	}
}

func TestTheRuntimeSaysHowLongGoroutinesWaited(t *testing.T) {
	var group sync.WaitGroup
	for i := 0; i < 1000; i++ {
		group.Add(1)
		go func() { defer group.Done(); time.Sleep(time.Microsecond) }()
	}
	group.Wait()
	got := answerOf(t, "GOMAXPROCS")
	if sum(got.QueueWait) == 0 || got.Started != nil {
		t.Fatalf("%v", got.QueueWait)
	}
}

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

// The baseline of the sharded counter's benchmark: one atomic counter for all goroutines.
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

func TestASteeredPoolHasTheSizeOfItsLease(t *testing.T) {
	pool := NewPool("steered", 4)
	defer pool.Close()
	held := newLease(newWorkers(pool), bounds{1, 8})
	if err := held.bounds.check(held.knob.first()); err != nil {
		t.Fatal(err)
	}
	if size, wrong := held.set(nil, 2, time.Minute); wrong != nil || size != 2 {
		t.Fatal(size, wrong)
	}
	if _, wrong := held.set(nil, 9, time.Minute); wrong == nil {
		t.Fatal("beyond its bounds")
	}
	for i := 0; i < 10; i++ {
		pool.Submit(func() error { return nil })
	}
	pool.Drain()
	read := held.knob.read()
	if read.Ops != 10 || read.Size != 2 || *read.QueueWaits != 10 {
		t.Fatal(read.Ops, read.Size, *read.QueueWaits)
	}
	if size := held.release(); size != 4 {
		t.Fatal(size)
	}
}

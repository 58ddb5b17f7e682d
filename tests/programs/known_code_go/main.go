// Command known_code_go has threads whose time in each function is known: see known_code.py.
//
// Each goroutine has a thread of its own and waits by system calls, in which the thread stays on the
// stack of its goroutine. The runtime waits for mutexes and channels on another stack.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

const (
	briefly = 400 * time.Microsecond
	longer  = 4 * time.Millisecond
	// From linux/futex.h.
	futexWait = 128
	futexWake = 129
)

type account map[string]int64

type result struct {
	Workers   map[string]account `json:"workers"`
	Waiter    int                `json:"waiter"`
	Released  account            `json:"released_ns"`
	Releasers map[string]int     `json:"releasers"`
}

func (a account) add(name string, begin time.Time) { a[name] += int64(time.Since(begin)) }

func wait(word *uint32, time *syscall.Timespec) {
	syscall.Syscall6(syscall.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWait, 0,
		uintptr(unsafe.Pointer(time)), 0, 0)
}

func wake(word *uint32) {
	syscall.Syscall6(syscall.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWake, 1, 0, 0, 0)
}

func spec(time time.Duration) *syscall.Timespec {
	made := syscall.NsecToTimespec(int64(time))
	return &made
}

//go:noinline
func waitBriefly(a account) {
	defer a.add("waitBriefly", time.Now())
	wait(new(uint32), spec(briefly))
}

//go:noinline
func waitLonger(a account) {
	defer a.add("waitLonger", time.Now())
	wait(new(uint32), spec(longer))
}

//go:noinline
func restBriefly(a account) {
	defer a.add("restBriefly", time.Now())
	syscall.Nanosleep(spec(briefly), nil)
}

//go:noinline
func restLonger(a account) {
	defer a.add("restLonger", time.Now())
	syscall.Nanosleep(spec(longer), nil)
}

//go:noinline
func computeSome(a account) {
	defer a.add("computeSome", time.Now())
	compute(time.Millisecond)
}

//go:noinline
func computeMore(a account) {
	defer a.add("computeMore", time.Now())
	compute(3 * time.Millisecond)
}

// cpu is the CPU time of the calling thread.
func cpu() time.Duration {
	var now syscall.Timespec
	const threadCPUTime = 3
	syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, threadCPUTime, uintptr(unsafe.Pointer(&now)), 0)
	return time.Duration(now.Nano())
}

func compute(time time.Duration) {
	for until := cpu() + time; cpu() < until; {
	}
}

func work(end time.Time) account {
	made := account{}
	for time.Now().Before(end) {
		for range 1 + rand.IntN(15) {
			waitBriefly(made)
			restBriefly(made)
		}
		waitLonger(made)
		restLonger(made)
		computeSome(made)
		computeMore(made)
	}
	return made
}

// turns is what one thread waits for, and two others release in turn.
type turns struct {
	released, over atomic.Uint32
	asked          [2]atomic.Uint32
	releaser       string
}

func raw(word *atomic.Uint32) *uint32 { return (*uint32)(unsafe.Pointer(word)) }

func take(word *atomic.Uint32) {
	for !word.CompareAndSwap(1, 0) {
		wait(raw(word), nil)
	}
}

func post(word *atomic.Uint32) {
	word.Store(1)
	wake(raw(word))
}

//go:noinline
func postSoon(t *turns) {
	t.releaser = "postSoon"
	post(&t.released)
}

//go:noinline
func postLate(t *turns) {
	t.releaser = "postLate"
	post(&t.released)
}

//go:noinline
func awaitRelease(t *turns, a account) {
	begin := time.Now()
	take(&t.released)
	a.add(t.releaser, begin)
}

func (t *turns) release(which int) {
	for {
		take(&t.asked[which])
		if t.over.Load() != 0 {
			return
		}
		syscall.Nanosleep(spec([]time.Duration{time.Millisecond, longer}[which]), nil)
		[]func(*turns){postSoon, postLate}[which](t)
	}
}

// onThread runs a function in a new thread, which then ends.
func onThread(running *sync.WaitGroup, what func(tid int)) {
	running.Add(1)
	go func() {
		runtime.LockOSThread()
		defer running.Done()
		what(syscall.Gettid())
	}()
}

func run(seconds float64) result {
	var (
		running sync.WaitGroup
		mutex   sync.Mutex
		t       turns
	)
	made := result{Workers: map[string]account{}, Released: account{}, Releasers: map[string]int{}}
	end := time.Now().Add(time.Duration(seconds * 1e9))
	for range 3 {
		onThread(&running, func(tid int) {
			own := work(end)
			mutex.Lock()
			defer mutex.Unlock()
			made.Workers[strconv.Itoa(tid)] = own
		})
	}
	for which, name := range []string{"postSoon", "postLate"} {
		onThread(&running, func(tid int) {
			mutex.Lock()
			made.Releasers[name] = tid
			mutex.Unlock()
			t.release(which)
		})
	}
	onThread(&running, func(tid int) {
		made.Waiter = tid
		for which := 0; time.Now().Before(end); which = 1 - which {
			post(&t.asked[which])
			awaitRelease(&t, made.Released)
		}
		t.over.Store(1)
		post(&t.asked[0])
		post(&t.asked[1])
	})
	running.Wait()
	return made
}

func main() {
	// A goroutine that returns from a system call never waits for a processor of the runtime.
	runtime.GOMAXPROCS(16)
	fmt.Println("ready")
	input := bufio.NewScanner(os.Stdin)
	for input.Scan() {
		seconds, err := strconv.ParseFloat(input.Text(), 64)
		if err != nil {
			panic(err)
		}
		json.NewEncoder(os.Stdout).Encode(run(seconds))
	}
}

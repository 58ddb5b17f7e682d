// Command waits has goroutines on threads of their own that wait in known measure; a line on
// standard input starts them. Two hold a mutex in turn and compute, so that one of them waits for it
// at any time; one sleeps and one reads a pipe, by system calls. Each says what it did, in
// nanoseconds, and waits again.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
	"syscall"
	"time"
)

const (
	turns = 40
	hold  = 10 * time.Millisecond
	// Clock reads of a thread that computes are closer to each other than this.
	pause = 200 * time.Microsecond
	sleep = 400 * time.Millisecond
)

type report struct {
	Tid    int   `json:"tid"`
	Wall   int64 `json:"wall_ns"`
	Waited int64 `json:"waited_ns"`
	Paused int64 `json:"paused_ns"`
	CPU    int64 `json:"cpu_ns"`
}

var (
	mutex   sync.Mutex
	begin   = make(chan struct{})
	end     = make(chan struct{})
	working sync.WaitGroup
	saying  sync.Mutex
	said    = map[string]report{}
)

func main() {
	var pipe [2]int
	if err := syscall.Pipe(pipe[:]); err != nil {
		panic(err)
	}
	start("holder-1", takeTurns)
	start("holder-2", takeTurns)
	start("sleeper", func() (time.Duration, time.Duration) {
		return timed(func() { syscall.Nanosleep(&syscall.Timespec{Nsec: int64(sleep)}, nil) }), 0
	})
	start("reader", func() (time.Duration, time.Duration) {
		return timed(func() { syscall.Read(pipe[0], make([]byte, 1)) }), 0
	})
	fmt.Println("ready")
	input := bufio.NewReader(os.Stdin)
	input.ReadString('\n')
	close(begin)
	time.Sleep(sleep)
	syscall.Write(pipe[1], []byte{1})
	working.Wait()
	json.NewEncoder(os.Stdout).Encode(said)
	io.Copy(io.Discard, input)
	close(end)
}

// start lets a goroutine work on a thread of its own; work returns how long it waited and paused.
func start(name string, work func() (time.Duration, time.Duration)) {
	working.Add(1)
	locked := make(chan struct{})
	go func() {
		runtime.LockOSThread()
		close(locked)
		<-begin
		began := time.Now()
		waited, paused := work()
		wall := time.Since(began)
		saying.Lock()
		said[name] = report{
			syscall.Gettid(), wall.Nanoseconds(), waited.Nanoseconds(), paused.Nanoseconds(), cpu(),
		}
		saying.Unlock()
		working.Done()
		<-end
	}()
	<-locked
}

// takeTurns returns how long it waited for the mutex, and how long it was stopped as it computed:
// by the kernel, which gave its CPU to another thread, or by Go's scheduler, which preempts it after
// 10 ms and lets its thread wait at a futex until another thread gives it a turn.
func takeTurns() (waited, paused time.Duration) {
	for range turns {
		waited += timed(mutex.Lock)
		last := time.Now()
		for deadline := last.Add(hold); last.Before(deadline); {
			now := time.Now()
			if gap := now.Sub(last); gap > pause {
				paused += gap
			}
			last = now
		}
		mutex.Unlock()
	}
	return waited, paused
}

func timed(wait func()) time.Duration {
	began := time.Now()
	wait()
	return time.Since(began)
}

// cpu is the CPU time of the calling thread (getrusage(2), RUSAGE_THREAD).
func cpu() int64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(1, &usage); err != nil {
		panic(err)
	}
	return usage.Utime.Nano() + usage.Stime.Nano()
}

// Package effects does things while it holds a lock.
package effects

import (
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

type Log struct {
	mu      sync.Mutex
	file    *os.File
	out     io.Writer
	lines   []string
	count   int
	bytes   int64
	queue   chan string
	ready   bool
	atomics atomic.Int64
	inner   sync.Mutex
	hook    func()
}

func (l *Log) Write(line string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count++
	return l.save(line)
}

func (l *Log) save(line string) error {
	_, err := l.file.WriteString(line)
	return err
}

func (l *Log) Through(line string) {
	l.mu.Lock()
	l.out.Write([]byte(line))
	l.mu.Unlock()
}

func (l *Log) Sleeps() {
	l.mu.Lock()
	time.Sleep(time.Millisecond)
	l.mu.Unlock()
}

func (l *Log) Sends(line string) {
	l.mu.Lock()
	l.queue <- line
	l.mu.Unlock()
}

func (l *Log) Receives() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case line := <-l.queue:
		return line
	default:
		return ""
	}
}

func (l *Log) Counts(size int) {
	l.mu.Lock()
	l.count++
	l.bytes += int64(size)
	l.mu.Unlock()
}

func (l *Log) Ready() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ready
}

func (l *Log) Prints() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return fmt.Sprintf("%d lines", l.count)
}

func (l *Log) Atomics() {
	l.mu.Lock()
	l.atomics.Add(1)
	l.mu.Unlock()
}

func (l *Log) LoadsAtomics() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.atomics.Load()
}

func (l *Log) Copies() []string {
	l.mu.Lock()
	copied := make([]string, len(l.lines))
	copy(copied, l.lines)
	l.mu.Unlock()
	return copied
}

func (l *Log) LocksInner() {
	l.mu.Lock()
	l.withInner()
	l.mu.Unlock()
}

func (l *Log) withInner() {
	l.inner.Lock()
	l.lines = nil
	l.inner.Unlock()
}

func (l *Log) LocksItself() {
	l.mu.Lock()
	l.Counts(1)
	l.mu.Unlock()
}

func (l *Log) Hooks() {
	l.mu.Lock()
	l.hook()
	l.mu.Unlock()
}

func (l *Log) Starts() {
	l.mu.Lock()
	go l.withInner()
	l.mu.Unlock()
}

/*
Report:

effects.(*Log).Write
  write effects.Log.mu, defer, sure lock
  lines 28 to 29 (deferred)
  11 instructions, 1 calls, 0 loops, 0 allocations, 0 map accesses, reads only: false, only counts: false
  reads effects.Log.count
  writes effects.Log.count
  io at line 31, sure: true: (*effects.Log).save > (*os.File).WriteString > (*os.File).Write > (*os.File).write > (*internal/poll.FD).Write
effects.(*Log).Through
  write effects.Log.mu, dominance, sure lock
  lines 40 to 42
  5 instructions, 1 calls, 0 loops, 0 allocations, 0 map accesses, reads only: true, only counts: false
  reads effects.Log.out
  io at line 41, sure: true: (io.Writer).Write
effects.(*Log).Sleeps
  write effects.Log.mu, dominance, sure lock
  lines 46 to 48
  2 instructions, 1 calls, 0 loops, 0 allocations, 0 map accesses, reads only: true, only counts: false
  sleep at line 47, sure: true: time.Sleep
effects.(*Log).Sends
  write effects.Log.mu, dominance, sure lock
  lines 52 to 54
  4 instructions, 0 calls, 0 loops, 0 allocations, 0 map accesses, reads only: false, only counts: false
  reads effects.Log.queue
  channel at line 53, sure: true
effects.(*Log).Receives
  write effects.Log.mu, defer, sure lock
  lines 58 to 59 (deferred)
  15 instructions, 0 calls, 0 loops, 0 allocations, 0 map accesses, reads only: false, only counts: false
  reads effects.Log.queue
  channel at line 60, sure: true
effects.(*Log).Counts
  write effects.Log.mu, dominance, sure lock
  lines 69 to 72
  12 instructions, 0 calls, 0 loops, 0 allocations, 0 map accesses, reads only: false, only counts: true
  reads effects.Log.bytes, effects.Log.count
  writes effects.Log.bytes, effects.Log.count
effects.(*Log).Ready
  write effects.Log.mu, defer, sure lock
  lines 76 to 77 (deferred)
  7 instructions, 0 calls, 0 loops, 0 allocations, 0 map accesses, reads only: true, only counts: false
  reads effects.Log.ready
effects.(*Log).Prints
  write effects.Log.mu, defer, sure lock
  lines 82 to 83 (deferred)
  13 instructions, 1 calls, 0 loops, 1 allocations, 0 map accesses, reads only: true, only counts: false
  reads effects.Log.count
effects.(*Log).Atomics
  write effects.Log.mu, dominance, sure lock
  lines 88 to 90
  3 instructions, 1 calls, 0 loops, 0 allocations, 0 map accesses, reads only: false, only counts: false
  writes effects.Log.atomics
effects.(*Log).LoadsAtomics
  write effects.Log.mu, defer, sure lock
  lines 94 to 95 (deferred)
  7 instructions, 1 calls, 0 loops, 0 allocations, 0 map accesses, reads only: true, only counts: false
effects.(*Log).Copies
  write effects.Log.mu, dominance, sure lock
  lines 100 to 103
  8 instructions, 0 calls, 0 loops, 1 allocations, 0 map accesses, reads only: true, only counts: false
  reads effects.Log.lines
effects.(*Log).LocksInner
  write effects.Log.mu, dominance, sure lock
  lines 108 to 110
  2 instructions, 1 calls, 0 loops, 0 allocations, 0 map accesses, reads only: false, only counts: false
  writes effects.Log.lines
  lock at line 109, sure: true: (*effects.Log).withInner > effects.Log.inner
effects.(*Log).withInner
  write effects.Log.inner, dominance, sure lock
  lines 114 to 116
  3 instructions, 0 calls, 0 loops, 0 allocations, 0 map accesses, reads only: false, only counts: false
  writes effects.Log.lines
effects.(*Log).LocksItself
  write effects.Log.mu, dominance, sure lock
  lines 120 to 122
  2 instructions, 1 calls, 0 loops, 0 allocations, 0 map accesses, reads only: false, only counts: false
  writes effects.Log.bytes, effects.Log.count
  same-lock at line 121, sure: true: (*effects.Log).Counts > effects.Log.mu
effects.(*Log).Hooks
  write effects.Log.mu, dominance, sure lock
  lines 126 to 128
  4 instructions, 1 calls, 0 loops, 0 allocations, 0 map accesses, reads only: false, only counts: false
  reads effects.Log.hook
  unknown at line 127, sure: false
effects.(*Log).Starts
  write effects.Log.mu, dominance, sure lock
  lines 132 to 134
  2 instructions, 0 calls, 0 loops, 0 allocations, 0 map accesses, reads only: false, only counts: false
  goroutine at line 133, sure: true
lock effects.Log.inner: Mutex, field, declared in line 23
lock effects.Log.mu: Mutex, field, declared in line 14
*/

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

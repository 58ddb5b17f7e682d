// A Go program that makes threads, driven by lines at its standard input; each gets an answer.
//
//	threads N  make N more threads that stay                    -> threads TID, of one of them
//	storm      make threads that end at once, from now on       -> storm
//	calm       make no more of them                             -> calm
//	size       what GOMAXPROCS is                               -> size N
//	choose N   call runtime.GOMAXPROCS                          -> choose N
package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

func main() {
	// The runtime looks at its processors only while the program is not wholly idle.
	go func() {
		for {
			for end := time.Now().Add(time.Millisecond); time.Now().Before(end); {
			}
			time.Sleep(time.Millisecond)
		}
	}()
	var stormy atomic.Bool
	fmt.Println("ready", runtime.GOMAXPROCS(0))
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		word, argument, _ := strings.Cut(lines.Text(), " ")
		number := 0
		fmt.Sscan(argument, &number)
		switch word {
		case "threads":
			number = stay(number)
		case "storm":
			stormy.Store(true)
			go storm(&stormy)
		case "calm":
			stormy.Store(false)
		case "size":
			number = runtime.GOMAXPROCS(0)
		case "choose":
			runtime.GOMAXPROCS(number)
		}
		fmt.Println(word, number)
	}
}

// stay makes threads that wait in the kernel for ever; the id of one of them.
func stay(number int) int {
	var begun sync.WaitGroup
	var tid atomic.Int64
	for i := 0; i < number; i++ {
		begun.Add(1)
		go func() {
			runtime.LockOSThread()
			var pipe [2]int
			if err := syscall.Pipe(pipe[:]); err != nil {
				panic(err)
			}
			tid.Store(int64(syscall.Gettid()))
			begun.Done()
			syscall.Read(pipe[0], make([]byte, 1))
		}()
	}
	begun.Wait()
	return int(tid.Load())
}

// storm makes one thread after the other: one whose goroutine ends while locked to it ends too.
func storm(stormy *atomic.Bool) {
	for stormy.Load() {
		var ended sync.WaitGroup
		ended.Add(1)
		go func() {
			defer ended.Done()
			runtime.LockOSThread()
		}()
		ended.Wait()
	}
}

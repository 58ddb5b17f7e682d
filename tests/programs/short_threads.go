// Goroutines that end while they are locked to their threads, so that these end, too: each line on
// standard input, "COUNT NS", runs so many, eight at a time; "done" is the answer.
package main

import (
	"fmt"
	"runtime"
	"sync"
	"time"
)

func main() {
	var count, ns int64
	fmt.Println("ready")
	for {
		if _, err := fmt.Scan(&count, &ns); err != nil {
			return
		}
		var all sync.WaitGroup
		room := make(chan bool, 8)
		for i := int64(0); i < count; i++ {
			room <- true
			all.Add(1)
			go func() {
				runtime.LockOSThread()
				for until := time.Now().Add(time.Duration(ns)); time.Now().Before(until); {
				}
				<-room
				all.Done()
			}()
		}
		all.Wait()
		fmt.Println("done")
	}
}

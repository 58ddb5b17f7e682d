// Command incident has one fault, or none: incident KIND fault|healthy. benchmarks/incident_cases.py
// says what each is. It runs until it is ended.
package main

import (
	"fmt"
	"net"
	"net/http"
	_ "net/http/pprof"
	"os"
	"sync"
	"time"
)

var fault = os.Args[2] == "fault"

// heldOverFsync: a mutex is held while a file is synced; the twin syncs outside of it, seldom.
func heldOverFsync() {
	var journal sync.Mutex
	file, err := os.CreateTemp("/var/tmp", "tidscope-incident-*")
	if err != nil {
		panic(err)
	}
	os.Remove(file.Name())
	block := make([]byte, 1<<16)
	for range 16 {
		go func() {
			for {
				journal.Lock()
				file.WriteAt(block, 0)
				if fault {
					file.Sync()
				}
				journal.Unlock()
				compute(50 * time.Microsecond)
				if !fault {
					time.Sleep(10 * time.Millisecond)
				}
			}
		}()
	}
}

// fullSemaphore: two at a time may work, for 20 ms each; 300 a second want to, or 30.
func fullSemaphore() {
	semaphore := make(chan struct{}, 2)
	period := time.Second / 30
	if fault {
		period = time.Second / 300
	}
	waiting := make(chan struct{}, 500)
	for range time.Tick(period) {
		select {
		case waiting <- struct{}{}:
			go func() {
				semaphore <- struct{}{}
				time.Sleep(20 * time.Millisecond)
				compute(time.Millisecond)
				<-semaphore
				<-waiting
			}()
		default:
		}
	}
}

// actor: a loop answers requests one by one, for 5 ms each; 300 a second come, or 30.
func actor() {
	type request struct{ answer chan int }
	requests, stop := make(chan request), make(chan struct{})
	go func() {
		for {
			select {
			case one := <-requests:
				compute(5 * time.Millisecond)
				one.answer <- 1
			case <-stop:
				return
			}
		}
	}()
	period := time.Second / 30
	if fault {
		period = time.Second / 300
	}
	waiting := make(chan struct{}, 500)
	for range time.Tick(period) {
		select {
		case waiting <- struct{}{}:
			go func() {
				answer := make(chan int)
				requests <- request{answer}
				<-answer
				<-waiting
			}()
		default:
		}
	}
}

func compute(duration time.Duration) {
	for end := time.Now().Add(duration); time.Now().Before(end); {
	}
}

// serveProfiles: the program's own account, at a port of its own.
func serveProfiles() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	go http.Serve(listener, nil)
}

func main() {
	serveProfiles()
	kinds := map[string]func(){
		"held-over-fsync": heldOverFsync, "full-semaphore": fullSemaphore, "actor": actor,
	}
	fmt.Println("ready")
	kinds[os.Args[1]]()
	select {}
}

// Command incident has one fault, or none: incident KIND fault|healthy. benchmarks/incident_cases.py
// says what each is. It runs until it is ended.
package main

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	_ "net/http/pprof"
	"os"
	"os/exec"
	"runtime/debug"
	"strings"
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

// store answers each question on a connection with a row.
func store() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(listener.Addr())
	go func() {
		// The asker has the other end: it has ended.
		os.Stdin.Read(make([]byte, 1))
		os.Exit(0)
	}()
	for {
		connection, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			question := make([]byte, 16)
			for {
				if _, err := connection.Read(question); err != nil {
					return
				}
				time.Sleep(300 * time.Microsecond)
				connection.Write([]byte("row"))
			}
		}()
	}
}

// asking asks a store in a process of its own 200 times for each request, or once.
func asking() {
	command := exec.Command(os.Args[0], "store", os.Args[2])
	command.StdinPipe()
	said, err := command.StdoutPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		panic(err)
	}
	address, _ := bufio.NewReader(said).ReadString('\n')
	questions := 1
	if fault {
		questions = 200
	}
	for range 2 {
		connection, err := net.Dial("tcp", strings.TrimSpace(address))
		if err != nil {
			panic(err)
		}
		go func() {
			row := make([]byte, 16)
			for {
				for range questions {
					connection.Write([]byte("get"))
					connection.Read(row)
				}
				time.Sleep(20 * time.Millisecond)
			}
		}()
	}
}

type row struct {
	next *row
	id   int
}

// garbage keeps many rows and collects garbage again and again, as little may be added to them; the
// twin keeps few.
func garbage() {
	var kept []*row
	if fault {
		debug.SetGCPercent(2)
		for id := range 1_500_000 {
			kept = append(kept, &row{id: id})
		}
	}
	for number := range 2 {
		go func() {
			for id := 0; ; id++ {
				var last *row
				for range 3000 {
					last = &row{next: last, id: id}
				}
				if fault {
					kept[(id*7919+number)%len(kept)] = last
				}
				time.Sleep(2 * time.Millisecond)
			}
		}()
	}
}

func main() {
	if os.Args[1] == "store" {
		store()
		return
	}
	serveProfiles()
	kinds := map[string]func(){
		"held-over-fsync": heldOverFsync, "full-semaphore": fullSemaphore, "actor": actor,
		"asking": asking, "garbage": garbage,
	}
	fmt.Println("ready")
	kinds[os.Args[1]]()
	select {}
}

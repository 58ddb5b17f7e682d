// A web service and its clients, for pictures: ten threads that all have the program's name.
//
//	server              serves orders; prints its address; works until its standard input ends
//	server load ADDRESS asks it for orders, in bursts of a size that goes up and down
package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"
)

const (
	clients  = 24
	beat     = 80 * time.Millisecond
	period   = 23 * time.Second
	syncEach = 40
)

var (
	stock  sync.Mutex
	orders int
)

// order computes, takes its turn at the stock, and now and then brings the journal to the disk.
func order(journal *os.File) http.HandlerFunc {
	page := []byte(strings.Repeat("an order of a thing in a shop; ", 400))
	return func(writer http.ResponseWriter, _ *http.Request) {
		sum := sha256.Sum256(page)
		var packed bytes.Buffer
		zip := gzip.NewWriter(&packed)
		zip.Write(page)
		zip.Write(sum[:])
		zip.Close()
		stock.Lock()
		orders++
		sync := orders%syncEach == 0
		time.Sleep(200 * time.Microsecond)
		stock.Unlock()
		journal.Write(sum[:])
		if sync {
			journal.Sync()
		}
		writer.Write(packed.Bytes())
	}
}

func serve() {
	journal, err := os.CreateTemp("", "tidscope-gallery-")
	if err != nil {
		fail(err)
	}
	os.Remove(journal.Name())
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fail(err)
	}
	go http.Serve(listener, order(journal))
	fmt.Println(listener.Addr())
	io.Copy(io.Discard, os.Stdin)
}

// load lets all clients ask at the same moments, since bursts are what needs many threads.
func load(address string) {
	http.DefaultTransport.(*http.Transport).MaxIdleConnsPerHost = clients
	for start := time.Now(); ; time.Sleep(beat) {
		wave := (1 - math.Cos(2*math.Pi*time.Since(start).Seconds()/period.Seconds())) / 2
		var asked sync.WaitGroup
		for range 2 + int(wave*(clients-2)) {
			asked.Add(1)
			go func() {
				defer asked.Done()
				answer, err := http.Get("http://" + address + "/order")
				if err != nil {
					fail(err)
				}
				io.Copy(io.Discard, answer.Body)
				answer.Body.Close()
			}()
		}
		asked.Wait()
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func main() {
	if len(os.Args) == 3 && os.Args[1] == "load" {
		load(os.Args[2])
		return
	}
	serve()
}

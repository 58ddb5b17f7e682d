// Messages for an echo server: each connection sends the next one when the last one has come back.
package main

import (
	"encoding/json"
	"flag"
	"io"
	"log"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	workload "github.com/tidscope/tidscope/workloads/driver"
)

func main() {
	log.SetFlags(0)
	address := flag.String("address", "", "of the server")
	connections := flag.Int("connections", 64, "that are open at the same time")
	bytes := flag.Int("bytes", 64, "of a message")
	seconds := flag.Int("seconds", 1, "how long")
	flag.Parse()
	var figures workload.Figures
	var clients sync.WaitGroup
	var failed atomic.Uint64
	start, end := make(chan struct{}), time.Now()
	for range *connections {
		connection, err := net.Dial("tcp", *address)
		if err != nil {
			log.Fatal(err)
		}
		latencies := figures.Latencies()
		clients.Add(1)
		go func() {
			defer clients.Done()
			defer connection.Close()
			message, answer := make([]byte, *bytes), make([]byte, *bytes)
			<-start
			for began := time.Now(); began.Before(end); began = time.Now() {
				if _, err := connection.Write(message); err != nil {
					failed.Add(1)
					return
				}
				if _, err := io.ReadFull(connection, answer); err != nil {
					failed.Add(1)
					return
				}
				latencies.Add(time.Since(began))
				figures.Count(1)
			}
		}()
	}
	end = time.Now().Add(time.Duration(*seconds) * time.Second)
	figures.Begin()
	close(start)
	clients.Wait()
	found := figures.End()
	found["requests"], found["duration_us"] = found["ops"], found["elapsed_s"]*1e6
	found["errors"] = float64(failed.Load())
	json.NewEncoder(os.Stdout).Encode(found)
}

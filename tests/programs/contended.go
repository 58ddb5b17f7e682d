// Goroutines that compete for one sync.Mutex, and say how long they waited for it.
//
// Usage: contended [profile] [metrics]: what is served by HTTP. Prints its port (0 if nothing is
// served); then, for each line of standard input, the nanoseconds that all have waited so far.
package main

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"os"
	"runtime"
	"runtime/metrics"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	competitors = 4
	hold        = time.Millisecond
	name        = "/sync/mutex/wait/total:seconds"
)

type pool struct {
	lock sync.Mutex
	uses int
}

var waited atomic.Int64

func (p *pool) use() {
	begin := time.Now()
	p.lock.Lock()
	waited.Add(int64(time.Since(begin)))
	defer p.lock.Unlock()
	p.uses++
	time.Sleep(hold)
}

func serveMetrics(answer http.ResponseWriter, _ *http.Request) {
	sample := []metrics.Sample{{Name: name}}
	metrics.Read(sample)
	fmt.Fprintf(answer, "# TYPE go_sync_mutex_wait_total_seconds_total counter\n")
	fmt.Fprintf(answer, "go_sync_mutex_wait_total_seconds_total %g\n", sample[0].Value.Float64())
}

func main() {
	runtime.SetMutexProfileFraction(1)
	handler := http.NewServeMux()
	if slices.Contains(os.Args[1:], "profile") {
		handler.HandleFunc("/debug/pprof/", pprof.Index)
	}
	if slices.Contains(os.Args[1:], "metrics") {
		handler.HandleFunc("/metrics", serveMetrics)
	}
	port := 0
	if len(os.Args) > 1 {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			panic(err)
		}
		port = listener.Addr().(*net.TCPAddr).Port
		go http.Serve(listener, handler)
	}
	shared := &pool{}
	for range competitors {
		go func() {
			for {
				shared.use()
			}
		}()
	}
	fmt.Println(port)
	input := bufio.NewScanner(os.Stdin)
	for input.Scan() {
		fmt.Println(waited.Load())
	}
}

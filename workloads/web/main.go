// A tiny web service, in one of several frameworks: GET /hello, which may sleep before it answers.
//
// It does what the Go web framework benchmark does (github.com/smallnest/go-web-framework-benchmark),
// in a process that tidscope can steer.
package main

import (
	"flag"
	"log"
	"net"
	"runtime"
	"time"

	workload "github.com/tidscope/tidscope/workloads/driver"
)

// reply is what every framework answers.
const reply = "Hello, World"

func main() {
	framework := flag.String("framework", "net-http", "which framework answers")
	sleep := flag.Duration("sleep", 0, "how long each request sleeps")
	upper := flag.Int("upper", 1, "what GOMAXPROCS may be steered to")
	flag.Parse()
	serve, known := frameworks[*framework]
	if !known {
		log.Fatalf("there is no framework %q", *framework)
	}
	defer workload.Start(*upper).Close()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	var figures workload.Figures
	go func() { log.Fatal(serve(listener, func() { work(*sleep, &figures) })) }()
	workload.Serve(listener.Addr().String(), &figures)
}

// work is what a request does, whichever framework serves it.
func work(sleep time.Duration, figures *workload.Figures) {
	if sleep > 0 {
		time.Sleep(sleep)
	} else {
		runtime.Gosched()
	}
	figures.Done(1)
}

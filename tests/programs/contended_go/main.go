// Command contended waits for locks in known measure until its standard input ends. It prints the
// port of its profiles. With an argument it does not sample its mutexes.
package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	_ "net/http/pprof"
	"os"
	"runtime"
	"time"

	"example.com/contended/table"
)

func main() {
	if len(os.Args) == 1 {
		runtime.SetMutexProfileFraction(1)
	}
	shared := table.New()
	for range 3 {
		go forever(func() { shared.Put("key") })
	}
	for range 2 {
		go forever(func() { shared.Look() })
	}
	go forever(func() {
		shared.Name()
		time.Sleep(time.Millisecond)
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	go http.Serve(listener, nil)
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	io.Copy(io.Discard, os.Stdin)
}

func forever(work func()) {
	for {
		work()
	}
}

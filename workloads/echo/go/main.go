// An echo server in Go: a goroutine a connection.
package main

import (
	"flag"
	"log"
	"net"

	workload "github.com/tidscope/tidscope/workloads/driver"
)

const largest = 64 * 1024

func main() {
	upper := flag.Int("upper", 1, "what GOMAXPROCS may be steered to")
	flag.Parse()
	defer workload.Start(*upper).Close()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	var figures workload.Figures
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				log.Fatal(err)
			}
			go echo(connection, &figures)
		}
	}()
	workload.Serve(listener.Addr().String(), &figures)
}

func echo(connection net.Conn, figures *workload.Figures) {
	defer connection.Close()
	buffer := make([]byte, largest)
	for {
		length, err := connection.Read(buffer)
		if err != nil {
			return
		}
		if _, err := connection.Write(buffer[:length]); err != nil {
			return
		}
		figures.Done(1)
	}
}

// An HTTP server whose requests take turns at a mutex, with clients of its own that never rest.
//
//	mutex_go WORKERS CLIENTS LOCKED_US    works until its standard input ends
//
// A steered pool, of WORKERS at first and at most, serves the requests. Each keeps the mutex for
// about LOCKED_US microseconds of computing, so more workers hardly do more.
package main

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"

	tidscope "github.com/tidscope/tidscope/agents/go"
)

type server struct {
	pool   *tidscope.Pool
	mutex  sync.Mutex
	totals map[int]uint64
	locked time.Duration
}

func (s *server) ServeHTTP(answer http.ResponseWriter, _ *http.Request) {
	done := make(chan struct{})
	s.pool.Submit(func() error {
		defer close(done)
		s.mutex.Lock()
		defer s.mutex.Unlock()
		until := time.Now().Add(s.locked)
		for at := 0; time.Now().Before(until); at++ {
			s.totals[at%64] += uint64(at)
		}
		return nil
	})
	<-done
	io.WriteString(answer, "done")
}

func ask(client *http.Client, address string) {
	for {
		answer, err := client.Get(address)
		if err != nil {
			log.Fatal(err)
		}
		io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
	}
}

func number(at int) int {
	value, err := strconv.Atoi(os.Args[at])
	if err != nil || value < 1 {
		log.Fatalf("want a number from 1 on, not %s", os.Args[at])
	}
	return value
}

func main() {
	if len(os.Args) != 4 {
		log.Fatal("usage: mutex_go WORKERS CLIENTS LOCKED_US")
	}
	workers, clients := number(1), number(2)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	pool := tidscope.NewPool("requests", workers)
	agent, err := tidscope.Start(tidscope.Steer(pool, 1, workers))
	if err != nil {
		log.Fatal(err)
	}
	served := &server{
		pool: pool, totals: map[int]uint64{}, locked: time.Duration(number(3)) * time.Microsecond,
	}
	go http.Serve(listener, served)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}
	for range make([]struct{}, clients) {
		go ask(client, "http://"+listener.Addr().String())
	}
	fmt.Println("ready", agent.Path)
	io.Copy(io.Discard, os.Stdin)
	agent.Close()
}

package main

import (
	"log"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	workload "github.com/tidscope/tidscope/workloads/driver"
)

// behind is how late a client may be and still catch up.
const behind = time.Second

// runClients lets clients do operations until stop is called. With a target each waits for its turn, as
// the clients of YCSB do: an operation that is late follows at once, and latency is the time from its
// beginning to its end.
func runClients(
	wanted *operations, clients int, target float64, figures *workload.Figures,
) (stop func()) {
	var ended atomic.Bool
	var running sync.WaitGroup
	period := time.Duration(0)
	if target > 0 {
		period = time.Duration(float64(clients) / target * float64(time.Second))
	}
	for number := range uint64(clients) {
		one, latencies := wanted.client(number+uint64(clients)), figures.Latencies()
		running.Go(func() {
			due := time.Now().Add(time.Duration(rand.Float64() * float64(period)))
			for !ended.Load() {
				if period > 0 {
					time.Sleep(time.Until(due))
					if due = due.Add(period); time.Since(due) > behind {
						due = time.Now()
					}
				}
				began := time.Now()
				if err := one.one(); err != nil {
					if !ended.Load() {
						log.Fatal(err)
					}
					return
				}
				latencies.Add(time.Since(began))
				figures.Done(1)
			}
		})
	}
	return func() {
		ended.Store(true)
		running.Wait()
	}
}

// A key-value store on one node under the core workloads of YCSB, or under bank transfers: Pebble, or
// an etcd server, each in this process with its clients.
package main

import (
	"flag"
	"log"
	"math/rand/v2"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	workload "github.com/tidscope/tidscope/workloads/driver"
)

func main() {
	name := flag.String("store", "pebble", "pebble or etcd")
	mixName := flag.String("mix", "a", "operations: a to g of YCSB, or bank")
	records := flag.Int("records", 10_000, "records before the first operation")
	clients := flag.Int("clients", 64, "operations under way at most")
	target := flag.Float64("target", 0, "operations a second that are asked for; 0: as many as there can be")
	synced := flag.Bool("synced", true, "whether a write is on the disk before it is done")
	upper := flag.Int("upper", 1, "what GOMAXPROCS may be steered to")
	flag.Parse()
	create, known := stores[*name]
	if !known {
		log.Fatalf("there is no store %q", *name)
	}
	folder, err := os.MkdirTemp("", "tidscope-kv-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	killed := make(chan os.Signal, 1)
	signal.Notify(killed, syscall.SIGTERM)
	go func() {
		<-killed
		os.RemoveAll(folder)
		os.Exit(1)
	}()
	if err := serve(create, folder, *mixName, *records, *clients, *target, *synced, *upper); err != nil {
		os.RemoveAll(folder)
		log.Fatal(err)
	}
}

func serve(
	create opener, folder, mixName string, records, clients int, target float64, synced bool, upper int,
) error {
	opened, err := create(folder, synced)
	if err != nil {
		return err
	}
	defer opened.close()
	wanted, err := newOperations(mixName, opened, records)
	if err != nil {
		return err
	}
	if err := wanted.load(clients); err != nil {
		return err
	}
	defer workload.Start(upper).Close()
	var figures workload.Figures
	stop := runClients(wanted, clients, target, &figures)
	defer stop()
	workload.Serve("", &figures)
	return nil
}

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

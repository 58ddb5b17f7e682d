// A key-value store on one node under the core workloads of YCSB, or under bank transfers: Pebble, or
// an etcd server, each in this process with its clients.
package main

import (
	"flag"
	"log"
	"os"
	"os/signal"
	"syscall"

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

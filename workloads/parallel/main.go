// Parallel kernels over data in memory, again and again: the eight of the Phoenix suite (Ranger et al.,
// "Evaluating MapReduce for multi-core and multiprocessor systems", HPCA 2007), in Go.
//
// An operation is a chunk of the data. A pass has a fixed number of chunks, whatever GOMAXPROCS is,
// and the next one begins when all of them are done.
package main

import (
	"flag"
	"log"
	"sync"

	workload "github.com/tidscope/tidscope/workloads/driver"
)

var scales = map[string]int{"small": 1, "medium": 4, "large": 16}

func main() {
	name := flag.String("kernel", "word-count", "what is computed")
	data := flag.String("data", "small", "how much data: small, medium or large")
	upper := flag.Int("upper", 1, "what GOMAXPROCS may be steered to")
	flag.Parse()
	create, known := kernels[*name]
	scale, sized := scales[*data]
	if !known || !sized {
		log.Fatalf("there is no kernel %q of %s data", *name, *data)
	}
	computed := create(scale)
	defer workload.Start(*upper).Close()
	var figures workload.Figures
	go func() {
		for {
			doPass(computed, &figures)
		}
	}()
	workload.Serve("", &figures)
}

func doPass(computed kernel, figures *workload.Figures) {
	var left sync.WaitGroup
	for number := range chunks {
		left.Add(1)
		go func() {
			defer left.Done()
			computed.chunk(number)
			figures.Done(1)
		}()
	}
	left.Wait()
	computed.merge()
}

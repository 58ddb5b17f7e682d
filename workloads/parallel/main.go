// Parallel kernels over data in memory, again and again: word count, histogram, k-means and matrix
// multiplication, of the kind of the Phoenix suite.
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

// A kernel is a computation in passes of chunks.
type kernel struct {
	chunks int
	chunk  func(number int)
	// after is what one goroutine does between two passes.
	after func()
}

var kernels = map[string]func(scale int) kernel{
	"word-count":      wordCount,
	"histogram":       histogram,
	"k-means":         kMeans,
	"matrix-multiply": matrixMultiply,
}

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
			computed.pass(&figures)
		}
	}()
	workload.Serve("", &figures)
}

func (k kernel) pass(figures *workload.Figures) {
	var left sync.WaitGroup
	for number := 0; number < k.chunks; number++ {
		left.Add(1)
		go func(number int) {
			defer left.Done()
			k.chunk(number)
			figures.Done(1)
		}(number)
	}
	left.Wait()
	k.after()
}

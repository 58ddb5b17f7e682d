// Parallel kernels over data in memory, again and again: the eight of the Phoenix suite (Ranger et al.,
// "Evaluating MapReduce for multi-core and multiprocessor systems", HPCA 2007), in Go.
//
// An operation is a chunk of the data. A pass has a fixed number of chunks, whatever GOMAXPROCS is,
// and the next one begins when all of them are done.
package main

import (
	"bytes"
	"flag"
	"log"
	"math/rand"
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

const chunks = 32

// A kernel is a computation in passes of chunks, which may be done at the same time.
type kernel interface {
	chunk(number int)
	// merge is what one goroutine does when all chunks of a pass are done.
	merge()
}

var kernels = map[string]func(scale int) kernel{
	"word-count":        func(scale int) kernel { return newWordCount(scale) },
	"string-match":      func(scale int) kernel { return newStringMatch(scale) },
	"reverse-index":     func(scale int) kernel { return newReverseIndex(scale) },
	"histogram":         func(scale int) kernel { return newHistogram(scale) },
	"linear-regression": func(scale int) kernel { return newLinearRegression(scale) },
	"pca":               func(scale int) kernel { return newPCA(scale) },
	"k-means":           func(scale int) kernel { return newKMeans(scale) },
	"matrix-multiply":   func(scale int) kernel { return newMatrixMultiply(scale) },
}

// part is the chunk of a slice with a number.
func part[T any](all []T, number int) []T {
	return all[number*len(all)/chunks : (number+1)*len(all)/chunks]
}

// parts cuts a text into chunks, behind an end of a word or a line.
func parts(text []byte, end byte) [][]byte {
	found := make([][]byte, chunks)
	for number := range found {
		size := len(text) / (chunks - number)
		if at := bytes.IndexByte(text[size:], end); number < chunks-1 && at >= 0 {
			size += at + 1
		} else {
			size = len(text)
		}
		found[number], text = text[:size], text[size:]
	}
	return found
}

// randomWord has 2 to 10 letters.
func randomWord(chosen *rand.Rand) []byte {
	word := make([]byte, 2+chosen.Intn(9))
	for i := range word {
		word[i] = byte('a' + chosen.Intn(26))
	}
	return word
}

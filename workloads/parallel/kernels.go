package main

import (
	"bytes"
	"math/rand"
)

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

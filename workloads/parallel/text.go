package main

import (
	"bytes"
	"math/rand"
	"slices"
	"strconv"
)

const words = 5000

// wordCount counts how often each word occurs in 4 MB of text, times the scale.
type wordCount struct {
	text   [][]byte
	counts []map[string]int
	total  map[string]int
}

func newWordCount(scale int) *wordCount {
	chosen := rand.New(rand.NewSource(1))
	frequent := rand.NewZipf(chosen, 1.1, 1, words-1)
	vocabulary := make([][]byte, words)
	for i := range vocabulary {
		vocabulary[i] = append(randomWord(chosen), ' ')
	}
	var text bytes.Buffer
	for text.Len() < scale*4<<20 {
		text.Write(vocabulary[frequent.Uint64()])
	}
	return &wordCount{text: parts(text.Bytes(), ' '), counts: make([]map[string]int, chunks)}
}

func (k *wordCount) chunk(number int) {
	found := make(map[string]int, words)
	for _, word := range bytes.Fields(k.text[number]) {
		found[string(word)]++
	}
	k.counts[number] = found
}

func (k *wordCount) merge() {
	k.total = make(map[string]int, words)
	for _, found := range k.counts {
		for word, count := range found {
			k.total[word] += count
		}
	}
}

// wanted are the words that stringMatch looks for.
var wanted = []string{"helloworld", "howareyou", "ferrari", "whotheman"}

// stringMatch encrypts each of the words in 8 MB of text, times the scale, and counts those that are
// encrypted as the wanted words are.
type stringMatch struct {
	text      [][]byte
	encrypted [][]byte
	counts    [][]int
	total     []int
}

func newStringMatch(scale int) *stringMatch {
	chosen := rand.New(rand.NewSource(1))
	var text bytes.Buffer
	for text.Len() < scale*8<<20 {
		if chosen.Intn(100) == 0 {
			text.WriteString(wanted[chosen.Intn(len(wanted))])
		} else {
			text.Write(randomWord(chosen))
		}
		text.WriteByte('\n')
	}
	kernel := &stringMatch{text: parts(text.Bytes(), '\n'), counts: make([][]int, chunks)}
	for _, word := range wanted {
		kernel.encrypted = append(kernel.encrypted, encrypt(nil, []byte(word)))
	}
	return kernel
}

// encrypt appends the code of a word.
func encrypt(to, word []byte) []byte {
	for i, letter := range word {
		to = append(to, letter+byte(5*i)+3)
	}
	return to
}

func (k *stringMatch) chunk(number int) {
	found := make([]int, len(wanted))
	var code []byte
	for text := k.text[number]; len(text) > 0; {
		end := bytes.IndexByte(text, '\n')
		code = encrypt(code[:0], text[:end])
		text = text[end+1:]
		for i, other := range k.encrypted {
			if bytes.Equal(code, other) {
				found[i]++
			}
		}
	}
	k.counts[number] = found
}

func (k *stringMatch) merge() {
	k.total = make([]int, len(wanted))
	for _, found := range k.counts {
		for i, count := range found {
			k.total[i] += count
		}
	}
}

// reverseIndex finds which of 1,600 documents, times the scale, refer to each of 500 addresses.
type reverseIndex struct {
	documents [][]byte
	found     []map[string][]int
	index     map[string][]int
}

func newReverseIndex(scale int) *reverseIndex {
	chosen := rand.New(rand.NewSource(1))
	documents := make([][]byte, scale*50*chunks)
	for i := range documents {
		var text bytes.Buffer
		for range 200 {
			text.Write(append(randomWord(chosen), ' '))
			if chosen.Intn(10) == 0 {
				address := "http://example.org/" + strconv.Itoa(chosen.Intn(500))
				text.WriteString(`<a href="` + address + `">` + address + `</a> `)
			}
		}
		documents[i] = text.Bytes()
	}
	return &reverseIndex{documents: documents, found: make([]map[string][]int, chunks)}
}

func (k *reverseIndex) chunk(number int) {
	reference := []byte(`<a href="`)
	found := make(map[string][]int)
	first := number * len(k.documents) / chunks
	for at, text := range part(k.documents, number) {
		for {
			_, after, more := bytes.Cut(text, reference)
			if !more {
				break
			}
			address, rest, _ := bytes.Cut(after, []byte{'"'})
			text = rest
			known := found[string(address)]
			if len(known) == 0 || known[len(known)-1] != first+at {
				found[string(address)] = append(known, first+at)
			}
		}
	}
	k.found[number] = found
}

func (k *reverseIndex) merge() {
	k.index = make(map[string][]int)
	for _, found := range k.found {
		for address, documents := range found {
			k.index[address] = slices.Concat(k.index[address], documents)
		}
	}
}

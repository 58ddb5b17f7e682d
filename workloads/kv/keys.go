package main

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"strconv"
)

// zipfian draws ranks from 0 on, of which the first ones are the most frequent: Gray et al., "Quickly
// Generating Billion-Record Synthetic Databases" (SIGMOD 1994), with the constant of YCSB.
type zipfian struct {
	items             uint64
	zeta, zeta2       float64
	alpha, eta, theta float64
}

const zipfianConstant = 0.99

func newZipfian(items uint64) *zipfian {
	z := &zipfian{theta: zipfianConstant, alpha: 1 / (1 - zipfianConstant)}
	z.zeta2 = 1 + math.Pow(0.5, z.theta)
	z.grow(items)
	return z
}

// scrambledItems and its zeta are those of YCSB's ScrambledZipfianGenerator: ranks are drawn of so
// many, whatever the number of records, and hashed onto them.
const (
	scrambledItems = 10_000_000_000
	scrambledZeta  = 26.46902820178302
)

func newScrambled() *zipfian {
	z := &zipfian{items: scrambledItems, zeta: scrambledZeta, theta: zipfianConstant}
	z.alpha, z.zeta2 = 1/(1-z.theta), 1+math.Pow(0.5, z.theta)
	z.setEta()
	return z
}

// grow makes it draw of more items.
func (z *zipfian) grow(items uint64) {
	for rank := z.items + 1; rank <= items; rank++ {
		z.zeta += 1 / math.Pow(float64(rank), z.theta)
	}
	z.items = max(z.items, items)
	z.setEta()
}

func (z *zipfian) setEta() {
	z.eta = (1 - math.Pow(2/float64(z.items), 1-z.theta)) / (1 - z.zeta2/z.zeta)
}

func (z *zipfian) draw(random *rand.Rand) uint64 {
	u := random.Float64()
	switch uz := u * z.zeta; {
	case uz < 1:
		return 0
	case uz < z.zeta2:
		return 1
	}
	rank := uint64(float64(z.items) * math.Pow(z.eta*u-z.eta+1, z.alpha))
	return min(rank, z.items-1)
}

// hashed is the 64-bit FNV hash of a number: YCSB's, which spreads the frequent ranks.
func hashed(number uint64) uint64 {
	hash := fnv.New64a()
	var bytes [8]byte
	binary.LittleEndian.PutUint64(bytes[:], number)
	hash.Write(bytes[:])
	return hash.Sum64()
}

// keyOf is the key of a record: YCSB's, with insertorder=hashed.
func keyOf(record uint64) []byte {
	return strconv.AppendUint([]byte("user"), hashed(record), 10)
}

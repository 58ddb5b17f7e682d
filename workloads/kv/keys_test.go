package main

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The most frequent rank of n items has a share of 1/zeta(n); the next one 1/(2^0.99 zeta(n)).
func TestRanksHaveTheirShares(t *testing.T) {
	const draws = 200_000
	random := rand.New(rand.NewPCG(1, 1))
	z := newZipfian(500)
	z.grow(1000)
	if whole := newZipfian(1000); math.Abs(whole.zeta-z.zeta) > 1e-9 || whole.eta != z.eta {
		t.Errorf("grown %v, made %v", z, whole)
	}
	counts := make([]float64, 1000)
	for range draws {
		counts[z.draw(random)]++
	}
	for rank, wanted := range []float64{1 / z.zeta, 1 / (math.Pow(2, 0.99) * z.zeta)} {
		if found := counts[rank] / draws; math.Abs(found-wanted) > 0.05*wanted {
			t.Errorf("rank %d has a share of %g, not %g", rank, found, wanted)
		}
	}
}

func TestSharesOfAMixAreAWhole(t *testing.T) {
	for name, one := range mixes {
		sum := one.read + one.update + one.insert + one.scan + one.readModifyWrite
		if math.Abs(sum-1) > 1e-9 {
			t.Errorf("%s: %g", name, sum)
		}
	}
}

// kept is a store in memory.
type kept map[string][]byte

func (k kept) read(key []byte) ([]byte, error) {
	if value, known := k[string(key)]; known {
		return value, nil
	}
	return nil, errMissing
}
func (k kept) write(key, value []byte) error { k[string(key)] = value; return nil }
func (k kept) load(pairs []pair) error {
	for _, one := range pairs {
		k.write(one.key, one.value)
	}
	return nil
}
func (k kept) scan([]byte, int) error               { return nil }
func (k kept) transfer(_, _ []byte, _ uint64) error { return nil }
func (k kept) close() error                         { return nil }

func TestEveryMixDoesItsOperations(t *testing.T) {
	for name, one := range mixes {
		stored := kept{}
		wanted, err := newOperations(name, stored, 100)
		if err != nil {
			t.Fatal(err)
		}
		if err := wanted.load(1); err != nil {
			t.Fatal(err)
		}
		client := wanted.client(1)
		for range 1000 {
			if err := client.one(); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		inserted := len(stored) - 100
		if wanted := 1000 * one.insert; math.Abs(float64(inserted)-wanted) > 3*math.Sqrt(wanted+1) {
			t.Errorf("%s inserted %d", name, inserted)
		}
		for _, value := range stored {
			if len(value) != fields*one.fieldBytes {
				t.Fatalf("%s has a value of %d bytes", name, len(value))
			}
		}
	}
}

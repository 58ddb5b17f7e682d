package main

import (
	"fmt"
	"math/rand/v2"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// operations does the operations of a mix on a store; of bank transfers if there is no mix.
type operations struct {
	store   store
	mix     mix
	bank    bool
	records uint64
	// next is the record of the next insert; done, up to where all are inserted.
	next, done atomic.Uint64
}

const (
	firstBalance = 1_000_000
	bank         = "bank"
)

func newOperations(name string, opened store, records int) (*operations, error) {
	found, known := mixes[name]
	if !known && name != bank {
		return nil, fmt.Errorf("there is no mix %q", name)
	}
	wanted := &operations{store: opened, mix: found, bank: name == bank, records: uint64(records)}
	wanted.next.Store(wanted.records)
	wanted.done.Store(wanted.records)
	return wanted, nil
}

// load writes all records.
func (o *operations) load(clients int) error {
	var loading errgroup.Group
	for client := range uint64(clients) {
		loading.Go(func() error {
			one := o.client(client)
			var pairs []pair
			for record := client; record < o.records; record += uint64(clients) {
				value := balance(firstBalance)
				if !o.bank {
					value = one.value()
				}
				pairs = append(pairs, pair{keyOf(record), value})
				if len(pairs) == loadedAtOnce {
					if err := o.store.load(pairs); err != nil {
						return err
					}
					pairs = nil
				}
			}
			if len(pairs) == 0 {
				return nil
			}
			return o.store.load(pairs)
		})
	}
	return loading.Wait()
}

// client is what one goroutine needs.
type client struct {
	*operations
	random   *rand.Rand
	frequent *zipfian
}

func (o *operations) client(number uint64) *client {
	one := &client{operations: o, random: rand.New(rand.NewPCG(number, 1))}
	if o.mix.latest {
		one.frequent = newZipfian(o.records)
	} else {
		one.frequent = newScrambled()
	}
	return one
}

// one does one operation.
func (c *client) one() error {
	if c.bank {
		from, to := c.random.Uint64N(c.records), c.random.Uint64N(c.records-1)
		if to >= from {
			to++
		}
		return c.store.transfer(keyOf(from), keyOf(to), 1)
	}
	left := c.random.Float64()
	for _, kind := range []struct {
		share float64
		do    func() error
	}{
		{c.mix.read, c.read},
		{c.mix.update, c.update},
		{c.mix.insert, c.insert},
		{c.mix.scan, c.scan},
	} {
		if left < kind.share {
			return kind.do()
		}
		left -= kind.share
	}
	return c.readModifyWrite()
}

// record draws a record: a frequent one, or in d one of the latest.
func (c *client) record() uint64 {
	if c.mix.latest {
		last := c.done.Load() - 1
		c.frequent.grow(last + 1)
		return last - c.frequent.draw(c.random)
	}
	return hashed(c.frequent.draw(c.random)) % c.records
}

func (c *client) read() error {
	_, err := c.store.read(keyOf(c.record()))
	if err == errMissing && c.mix.latest {
		return nil // Another client is inserting it.
	}
	return err
}

// update writes a field, or all of them. These stores know values, not fields, so it reads the others.
func (c *client) update() error {
	key := keyOf(c.record())
	if c.mix.wholeValue {
		return c.store.write(key, c.value())
	}
	value, err := c.store.read(key)
	if err != nil {
		return err
	}
	c.fill(value[c.random.IntN(fields)*c.mix.fieldBytes:][:c.mix.fieldBytes])
	return c.store.write(key, value)
}

func (c *client) insert() error {
	err := c.store.write(keyOf(c.next.Add(1)-1), c.value())
	c.done.Add(1)
	return err
}

func (c *client) scan() error {
	return c.store.scan(keyOf(c.record()), 1+c.random.IntN(maxScanLength))
}

func (c *client) readModifyWrite() error {
	if err := c.read(); err != nil {
		return err
	}
	return c.update()
}

// value is that of a whole record.
func (c *client) value() []byte {
	value := make([]byte, fields*c.mix.fieldBytes)
	c.fill(value)
	return value
}

// fill makes letters, which compress about as YCSB's do.
func (c *client) fill(bytes []byte) {
	for at := range bytes {
		bytes[at] = ' ' + byte(c.random.Uint32()%95)
	}
}

// A mix is a workload of YCSB: shares of operations, and how keys are chosen.
//
// a to f are the core workloads as published (Cooper et al., SoCC 2010, table 2, and the files
// workloads/workloada to workloadf of YCSB): records of 10 fields of 100 bytes; an update writes one
// field. g is the write-only workload of the sources' performance assignment: values of 10 kB.
type mix struct {
	read, update, insert, scan, readModifyWrite float64

	latest     bool
	wholeValue bool
	fieldBytes int
}

const (
	fields        = 10
	maxScanLength = 100
)

var mixes = map[string]mix{
	"a": {read: 0.5, update: 0.5, fieldBytes: 100},
	"b": {read: 0.95, update: 0.05, fieldBytes: 100},
	"c": {read: 1, fieldBytes: 100},
	"d": {read: 0.95, insert: 0.05, latest: true, fieldBytes: 100},
	"e": {scan: 0.95, insert: 0.05, fieldBytes: 100},
	"f": {read: 0.5, readModifyWrite: 0.5, fieldBytes: 100},
	"g": {update: 1, wholeValue: true, fieldBytes: 1000},
}

package main

import "errors"

// errMissing: there is no value of this key.
var errMissing = errors.New("no such key")

// loadedAtOnce is below the most operations that etcd has in a transaction (128).
const loadedAtOnce = 100

type pair struct{ key, value []byte }

// A store keeps values by key. All methods may be called at the same time.
type store interface {
	read(key []byte) ([]byte, error)
	write(key, value []byte) error
	// load writes up to loadedAtOnce pairs.
	load(pairs []pair) error
	// scan reads up to count pairs from a key on.
	scan(from []byte, count int) error
	// transfer moves an amount between two balances in one transaction.
	transfer(from, to []byte, amount uint64) error
	close() error
}

// An opener opens a store in an empty folder; synced writes are on the disk when they return.
type opener func(folder string, synced bool) (store, error)

var stores = map[string]opener{"pebble": openPebble, "etcd": openEtcd}

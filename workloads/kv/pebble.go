package main

import (
	"encoding/binary"
	"errors"
	"hash/maphash"
	"sync"

	"github.com/cockroachdb/pebble/v2"
)

// pebbleStore is a log-structured merge tree; a transfer holds the locks of its two accounts.
type pebbleStore struct {
	db    *pebble.DB
	how   *pebble.WriteOptions
	seed  maphash.Seed
	locks [256]sync.Mutex
}

// quiet drops what Pebble says of its compactions.
type quiet struct{}

func (quiet) Infof(string, ...any)  {}
func (quiet) Errorf(string, ...any) {}
func (quiet) Fatalf(format string, args ...any) {
	pebble.DefaultLogger.Fatalf(format, args...)
}

func openPebble(folder string, synced bool) (store, error) {
	db, err := pebble.Open(folder, &pebble.Options{Logger: quiet{}})
	if err != nil {
		return nil, err
	}
	how := pebble.NoSync
	if synced {
		how = pebble.Sync
	}
	return &pebbleStore{db: db, how: how, seed: maphash.MakeSeed()}, nil
}

func (p *pebbleStore) read(key []byte) ([]byte, error) {
	value, closer, err := p.db.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, errMissing
	}
	if err != nil {
		return nil, err
	}
	defer closer.Close()
	return append([]byte(nil), value...), nil
}

func (p *pebbleStore) write(key, value []byte) error { return p.db.Set(key, value, p.how) }

func (p *pebbleStore) load(pairs []pair) error {
	change := p.db.NewBatch()
	defer change.Close()
	for _, one := range pairs {
		change.Set(one.key, one.value, nil)
	}
	return change.Commit(p.how)
}

func (p *pebbleStore) scan(from []byte, count int) error {
	pairs, err := p.db.NewIter(&pebble.IterOptions{LowerBound: from})
	if err != nil {
		return err
	}
	for valid := pairs.First(); valid && count > 0; valid = pairs.Next() {
		if _, err := pairs.ValueAndErr(); err != nil {
			pairs.Close()
			return err
		}
		count--
	}
	return pairs.Close()
}

func (p *pebbleStore) transfer(from, to []byte, amount uint64) error {
	first, second := p.lockOf(from), p.lockOf(to)
	if first > second {
		first, second = second, first
	}
	p.locks[first].Lock()
	defer p.locks[first].Unlock()
	if second != first {
		p.locks[second].Lock()
		defer p.locks[second].Unlock()
	}
	source, err := p.read(from)
	if err != nil {
		return err
	}
	sink, err := p.read(to)
	if err != nil {
		return err
	}
	change := p.db.NewBatch()
	defer change.Close()
	change.Set(from, balance(binary.BigEndian.Uint64(source)-amount), nil)
	change.Set(to, balance(binary.BigEndian.Uint64(sink)+amount), nil)
	return change.Commit(p.how)
}

func (p *pebbleStore) lockOf(key []byte) int {
	return int(maphash.Bytes(p.seed, key) % uint64(len(p.locks)))
}

func (p *pebbleStore) close() error { return p.db.Close() }

func balance(amount uint64) []byte { return binary.BigEndian.AppendUint64(nil, amount) }

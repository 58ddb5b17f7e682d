package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"net/url"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	"go.etcd.io/etcd/server/v3/embed"
)

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

const (
	readySeconds = 30
	quotaBytes   = 8 << 30
)

// etcdStore is an etcd server of one member, and a client that calls it over loopback.
type etcdStore struct {
	server *embed.Etcd
	client *clientv3.Client
}

func openEtcd(folder string, synced bool) (store, error) {
	settings := embed.NewConfig()
	settings.Dir = folder
	settings.LogLevel = "error"
	settings.UnsafeNoFsync = !synced
	settings.QuotaBackendBytes = quotaBytes
	anyPort := url.URL{Scheme: "http", Host: "127.0.0.1:0"}
	settings.ListenClientUrls = []url.URL{anyPort}
	settings.ListenPeerUrls = []url.URL{anyPort}
	settings.AdvertiseClientUrls = []url.URL{anyPort}
	settings.AdvertisePeerUrls = []url.URL{anyPort}
	settings.InitialCluster = settings.InitialClusterFromName(settings.Name)
	server, err := embed.StartEtcd(settings)
	if err != nil {
		return nil, err
	}
	select {
	case <-server.Server.ReadyNotify():
	case err := <-server.Err():
		return nil, err
	case <-time.After(readySeconds * time.Second):
		return nil, fmt.Errorf("etcd was not ready within %d s", readySeconds)
	}
	client, err := clientv3.New(clientv3.Config{
		Endpoints: []string{server.Clients[0].Addr().String()},
	})
	if err != nil {
		return nil, err
	}
	return &etcdStore{server, client}, nil
}

func (e *etcdStore) read(key []byte) ([]byte, error) {
	found, err := e.client.Get(context.Background(), string(key))
	if err != nil {
		return nil, err
	}
	if len(found.Kvs) == 0 {
		return nil, errMissing
	}
	return found.Kvs[0].Value, nil
}

func (e *etcdStore) write(key, value []byte) error {
	_, err := e.client.Put(context.Background(), string(key), string(value))
	return err
}

func (e *etcdStore) load(pairs []pair) error {
	var puts []clientv3.Op
	for _, one := range pairs {
		puts = append(puts, clientv3.OpPut(string(one.key), string(one.value)))
	}
	_, err := e.client.Txn(context.Background()).Then(puts...).Commit()
	return err
}

func (e *etcdStore) scan(from []byte, count int) error {
	_, err := e.client.Get(
		context.Background(), string(from), clientv3.WithFromKey(), clientv3.WithLimit(int64(count)),
	)
	return err
}

// transfer reads and writes in a transaction that is tried again when another one was faster.
func (e *etcdStore) transfer(from, to []byte, amount uint64) error {
	_, err := concurrency.NewSTM(e.client, func(change concurrency.STM) error {
		source, sink := change.Get(string(from)), change.Get(string(to))
		if len(source) != 8 || len(sink) != 8 {
			return errMissing
		}
		change.Put(string(from), string(balance(binary.BigEndian.Uint64([]byte(source))-amount)))
		change.Put(string(to), string(balance(binary.BigEndian.Uint64([]byte(sink))+amount)))
		return nil
	})
	return err
}

func (e *etcdStore) close() error {
	e.client.Close()
	e.server.Close()
	return nil
}

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

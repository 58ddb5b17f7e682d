package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"net/url"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	"go.etcd.io/etcd/server/v3/embed"
)

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

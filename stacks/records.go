package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"time"
	"unsafe"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/ringbuf"
	"golang.org/x/sys/unix"
)

// Kinds of records: enum record_kind in sampler/src/ledger/sampled_stays.bpf.h.
const (
	stayBegan    = 1
	stayEnded    = 2
	stayReleased = 3
	seenOnCPU    = 4
)

// recordBytes is the size of struct stay_record.
const recordBytes = 56

// record is struct stay_record.
type record struct {
	stay, at, begin, address, waker uint64
	process, thread, weight         uint32
	state, kind                     uint16
}

// wait is the length of a stay that has ended, delay how long its thread was queued then.
func (r *record) wait() uint64  { return r.begin }
func (r *record) delay() uint64 { return r.address }

// shared is struct sampling, mapped; who writes what stands there.
type shared struct {
	gapNs, releaseNs, costNs, stays, beyondLimit, noRoom uint64
}

func mapShared(sampling *os.File) (*shared, error) {
	data, err := unix.Mmap(
		int(sampling.Fd()), 0, os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("mapping what is shared with the ledger: %w", err)
	}
	return (*shared)(unsafe.Pointer(&data[0])), nil
}

// stopSampling lets the ledger choose no more stays, whatever became of the worker.
func stopSampling(sampling *os.File) {
	if one, err := mapShared(sampling); err == nil {
		one.gapNs = 0
	}
}

// recordReader reads the ring of records.
type recordReader struct {
	reader *ringbuf.Reader
	buffer ringbuf.Record
}

func newRecordReader(stays *ebpf.Map) (*recordReader, error) {
	reader, err := ringbuf.NewReader(stays)
	if err != nil {
		return nil, fmt.Errorf("reading stays: %w", err)
	}
	// Nobody is woken for a record: a reader takes what there is.
	reader.SetDeadline(time.Unix(1, 0))
	return &recordReader{reader: reader}, nil
}

// all gives all records that there are.
func (r *recordReader) all() ([]record, error) {
	var found []record
	for {
		one, ok, err := r.next()
		if err != nil || !ok {
			return found, err
		}
		found = append(found, one)
	}
}

// next gives the next record, or false if there is none.
func (r *recordReader) next() (record, bool, error) {
	for {
		err := r.reader.ReadInto(&r.buffer)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return record{}, false, nil
		}
		if err != nil {
			return record{}, false, fmt.Errorf("reading stays: %w", err)
		}
		if raw := r.buffer.RawSample; len(raw) >= recordBytes {
			return parseRecord(raw), true, nil
		}
	}
}

func parseRecord(raw []byte) record {
	word := func(at int) uint64 { return binary.LittleEndian.Uint64(raw[at:]) }
	half := func(at int) uint32 { return binary.LittleEndian.Uint32(raw[at:]) }
	return record{
		stay: word(0), at: word(8), begin: word(16), address: word(24), waker: word(32),
		process: half(40), thread: half(44), weight: half(48),
		state: binary.LittleEndian.Uint16(raw[52:]), kind: binary.LittleEndian.Uint16(raw[54:]),
	}
}

package tidscope

import (
	"os"
	"time"
)

type hello struct {
	PID      int    `json:"pid"`
	Runtime  string `json:"runtime"`
	Version  string `json:"version"`
	Protocol int    `json:"protocol"`
	Knob     string `json:"knob"`
	Lower    int    `json:"lower"`
	Upper    int    `json:"upper"`
	Size     int    `json:"size"`
	Original int    `json:"original"`
}

type reading struct {
	Ops         uint64 `json:"ops"`
	Size        int    `json:"size"`
	QueueWaitNs *int64 `json:"queue_wait_ns"` // null: there is no queue to wait in
	QueueWaits  *int64 `json:"queue_waits"`
	MonotonicNs int64  `json:"monotonic_ns"`
}

type sizes struct {
	Size   int `json:"size"`
	Wanted int `json:"wanted"`
}

func (s *server) answer(by *client, asked call) (any, *failure) {
	if asked.method == "set" {
		wanted, wrong := parseSet(asked.params)
		if wrong != nil {
			return nil, wrong
		}
		size, wrong := s.lease.set(by, wanted.size, wanted.lease)
		return sizes{size, wanted.size}, wrong
	}
	switch asked.method {
	case "hello", "read", "read_pools", "release":
	default:
		return nil, fail(codeMethod, "there is no method %.40q", asked.method)
	}
	if asked.params != nil {
		return nil, fail(codeParams, "%s takes no parameters", asked.method)
	}
	knob := s.lease.knob
	switch asked.method {
	case "hello":
		limits := s.lease.bounds
		return hello{os.Getpid(), "go", Version, 2, "gomaxprocs", limits.lower, limits.upper,
			knob.size(), knob.original}, nil
	case "read":
		return reading{Ops: Ops.Load(), Size: knob.size(),
			MonotonicNs: time.Since(s.start).Nanoseconds()}, nil
	case "read_pools":
		pools, omitted := readPools(knob)
		return poolsAnswer{pools, omitted, time.Since(s.start).Nanoseconds()}, nil
	default:
		size := s.lease.release()
		return sizes{size, knob.original}, nil
	}
}

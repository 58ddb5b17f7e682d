package tidscope

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	codeParse   = -32700
	codeInvalid = -32600
	codeMethod  = -32601
	codeParams  = -32602
	codeBounds  = -32001
	codeEnding  = -32002
	codeBusy    = -32003
	codeClients = -32004

	longestLease  = 60 * time.Second
	largestID     = 1<<53 - 1
	restartSearch = `{"jsonrpc":"2.0","method":"restart_search"}` + "\n"
)

type failure struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func fail(code int, format string, values ...any) *failure {
	return &failure{code, fmt.Sprintf(format, values...)}
}

// closes is true if the connection must be closed, because later input may be malformed too.
func (f *failure) closes() bool { return f.Code == codeParse || f.Code == codeInvalid }

type answer struct {
	Version string `json:"jsonrpc"`
	ID      int64  `json:"id"`
	Result  any    `json:"result"`
}

type refusal struct {
	Version string   `json:"jsonrpc"`
	ID      *int64   `json:"id"`
	Error   *failure `json:"error"`
}

type call struct {
	id     int64
	method string
	params json.RawMessage
}

type setParams struct {
	size  int
	lease time.Duration
}

// parseCall reads one line. The id is reported as soon as it is known, for the refusal.
func parseCall(line []byte) (found call, id *int64, wrong *failure) {
	if !utf8.Valid(line) || !json.Valid(line) {
		return found, nil, fail(codeParse, "the line is not JSON")
	}
	members, err := object(line)
	if err != nil {
		return found, nil, fail(codeInvalid, "the line is not a JSON object")
	}
	number, err := integer(members["id"], 0, largestID)
	if err != nil {
		return found, nil, fail(codeInvalid, "id must be an integer from 0 on")
	}
	found.id, id = number, &number
	if string(members["jsonrpc"]) != `"2.0"` {
		return found, id, fail(codeInvalid, `jsonrpc must be "2.0"`)
	}
	if !bytes.HasPrefix(members["method"], []byte(`"`)) {
		return found, id, fail(codeInvalid, "method must be a string")
	}
	if err := json.Unmarshal(members["method"], &found.method); err != nil {
		return found, id, fail(codeInvalid, "method must be a string")
	}
	found.params = members["params"]
	for name := range members {
		if !strings.Contains(" id jsonrpc method params ", " "+name+" ") {
			return found, id, fail(codeInvalid, "a call has no member %.40q", name)
		}
	}
	return found, id, nil
}

// parseSet reads the parameters of set.
func parseSet(params json.RawMessage) (setParams, *failure) {
	members, err := object(params)
	if err != nil || len(members) != 2 {
		return setParams{}, fail(codeParams, "set takes size and lease_s, and nothing else")
	}
	size, err := integer(members["size"], 1, most)
	if err != nil {
		return setParams{}, fail(codeParams, "size must be an integer from 1 to %d", most)
	}
	var seconds *float64
	err = json.Unmarshal(members["lease_s"], &seconds)
	if err != nil || seconds == nil || *seconds <= 0 || *seconds > longestLease.Seconds() {
		return setParams{}, fail(codeParams, "lease_s must be a number above 0, 60 at most")
	}
	return setParams{int(size), time.Duration(*seconds * float64(time.Second))}, nil
}

// object parses a JSON object into a map, because struct fields match names in any case.
func object(text []byte) (map[string]json.RawMessage, error) {
	var members map[string]json.RawMessage
	err := json.Unmarshal(text, &members)
	if err == nil && members == nil {
		err = fmt.Errorf("not an object")
	}
	return members, err
}

func integer(text []byte, least, greatest int64) (int64, error) {
	var number *int64
	if err := json.Unmarshal(text, &number); err != nil {
		return 0, err
	}
	if number == nil || *number < least || *number > greatest {
		return 0, fmt.Errorf("out of range")
	}
	return *number, nil
}

func line(message any) []byte {
	text, err := json.Marshal(message)
	if err != nil {
		panic(err) // Own numbers and texts always marshal.
	}
	return append(text, '\n')
}

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
	turned := s.lease.knob
	switch asked.method {
	case "hello":
		limits := s.lease.bounds
		return hello{os.Getpid(), "go", Version, 2, turned.kind(), limits.lower, limits.upper,
			turned.size(), turned.first()}, nil
	case "read":
		found := turned.read()
		found.MonotonicNs = time.Since(s.start).Nanoseconds()
		return found, nil
	case "read_pools":
		pools, omitted := readPools()
		return poolsAnswer{pools, omitted, time.Since(s.start).Nanoseconds()}, nil
	default:
		size := s.lease.release()
		return sizes{size, turned.first()}, nil
	}
}

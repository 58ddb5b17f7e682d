package main

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"unsafe"
)

func TestAStatusIsJSONWithAllThatTheCollectorWants(t *testing.T) {
	message := encodeStatus(status{State: stateFailed, Reason: strings.Repeat("x", 5000)})
	if message[0] != messageStatus {
		t.Fatal(message[0])
	}
	var found map[string]any
	if err := json.Unmarshal(message[1:], &found); err != nil {
		t.Fatal(err)
	}
	if found["state"] != "failed" || found["trigger"] != "none" || len(found["reason"].(string)) != 1000 {
		t.Fatal(found)
	}
	for _, name := range []string{"state", "trigger", "cpu_hz", "stack_ns", "reason", "at_ns"} {
		if _, ok := found[name]; !ok {
			t.Fatal(name)
		}
	}
	if at := found["at_ns"].(float64); at <= 0 || len(found) != 6 {
		t.Fatal(found)
	}
}

func TestFramesComeInMessagesThatFit(t *testing.T) {
	var frames []frame
	for i := range 1000 {
		frames = append(frames, frame{
			Kind: "python", Function: strings.Repeat("\u00e4\"", i%250), File: "a.py", Line: uint32(i),
			Module: "m", Address: math.MaxUint64, BuildID: "b",
		})
	}
	next := uint32(5)
	messages := encodeFrames(next, frames)
	for _, message := range messages {
		if len(message) > maxMessage || message[0] != messageFrames {
			t.Fatal(len(message))
		}
		var rows [][]json.RawMessage
		if err := json.Unmarshal(message[1:], &rows); err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			var (
				number, line            uint32
				kind, function, file, m string
				address                 uint64
				build                   string
			)
			for i, into := range []any{&number, &kind, &function, &file, &line, &m, &address, &build} {
				if err := json.Unmarshal(row[i], into); err != nil {
					t.Fatal(err)
				}
			}
			if number != next || (frame{kind, function, file, line, m, address, build}) != frames[number-5] {
				t.Fatal(number, next)
			}
			next++
		}
	}
	if next != 1005 || len(messages) < 2 {
		t.Fatal(next, len(messages))
	}
	if encodeFrames(1, nil) != nil {
		t.Fatal("a message of nothing")
	}
}

func TestRowsComeInMessagesThatFit(t *testing.T) {
	nodes := make([]node, 12345)
	for i := range nodes {
		nodes[i] = node{Parent: uint32(i), Frame: uint32(i + 9)}
	}
	next := uint32(1)
	for _, message := range encodeNodes(1, nodes) {
		if len(message) > maxMessage || message[0] != messageNodes || (len(message)-1)%nodeBytes != 0 {
			t.Fatal(len(message))
		}
		for row := message[1:]; len(row) > 0; row = row[nodeBytes:] {
			word := func(i int) uint32 { return binary.LittleEndian.Uint32(row[4*i:]) }
			if word(0) != next || word(1) != next-1 || word(2) != next+8 {
				t.Fatal(next)
			}
			next++
		}
	}
	if next != 12346 {
		t.Fatal(next)
	}
}

// A sample's fields have no gaps, so that its bytes are those of the struct.
func TestASampleIsItsFieldsInOrder(t *testing.T) {
	one := sample{
		Number: 1, BeginNs: 2, WaitNs: 3, DelayNs: 4, Address: 5, Waker: 6, Process: 7, Thread: 8,
		Node: 9, WakerNode: 10, Weight: 11, State: 12, Ended: 1,
	}
	if fields := reflect.TypeOf(one).NumField(); fields != 13 || unsafe.Sizeof(one) != sampleBytes {
		t.Fatal(fields, unsafe.Sizeof(one))
	}
	messages := encodeSamples([]sample{{}, one})
	if len(messages) != 1 || messages[0][0] != messageSamples || len(messages[0]) != 1+2*sampleBytes {
		t.Fatal(messages)
	}
	found := *(*[sampleBytes]byte)(messages[0][1+sampleBytes:])
	if found != *(*[sampleBytes]byte)(unsafe.Pointer(&one)) {
		t.Fatal(found)
	}
	if most := encodeSamples(make([]sample, 5000)); len(most) < 2 || len(most[0]) > maxMessage {
		t.Fatal(len(most))
	}
}

func TestCountsAreWords(t *testing.T) {
	message := encodeCounts([countKinds]uint64{1, 2, 3, 4, 5, math.MaxUint64})
	if len(message) != 1+8*countKinds || message[0] != messageCounts {
		t.Fatal(message)
	}
	if last := binary.LittleEndian.Uint64(message[1+8*5:]); last != math.MaxUint64 {
		t.Fatal(last)
	}
}

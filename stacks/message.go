package main

import (
	"encoding/binary"
	"encoding/json"
)

// Commands of the collector to the keeper, each a whole message.
const (
	commandBegin = "begin"
	commandEnd   = "end"
)

// Kinds of messages to the collector; the first byte of each. What follows is JSON for statuses and
// frames, else rows of fixed length, little-endian.
const (
	messageStatus  = 'S'
	messageFrames  = 'F'
	messageNodes   = 'N'
	messageSamples = 'R'
	messageCounts  = 'C'
)

// maxMessage bounds a message, in bytes.
const maxMessage = 60000

// States of the worker.
const (
	stateLoading  = "loading"
	stateSampling = "sampling"
	stateEnded    = "ended"
	stateFailed   = "failed"
)

// Triggers, as in shared/schemas/stacks.schema.json.
const (
	triggerTracepoint      = "tracepoint"
	triggerContextSwitches = "context_switches"
	triggerNone            = "none"
)

// status says what the worker does.
type status struct {
	State   string  `json:"state"`
	Trigger string  `json:"trigger"`
	CPUHz   float64 `json:"cpu_hz"`
	// Time that one stack costs the thread, measured on the worker itself; 0: unknown.
	StackNs int64  `json:"stack_ns"`
	Reason  string `json:"reason"`
	// CLOCK_MONOTONIC.
	AtNs uint64 `json:"at_ns"`
}

// frame is a function in which a thread was seen.
type frame struct {
	Kind     string
	Function string
	File     string
	Line     uint32
	Module   string
	Address  uint64
	BuildID  string
}

// node is a frame called by the frames of its ancestors. Numbers count from 1.
type node struct {
	Parent uint32
	Frame  uint32
}

// sample is a row: a stay whose stack was taken, or a thread seen on a CPU. Times: CLOCK_MONOTONIC.
type sample struct {
	Number    uint64
	BeginNs   uint64
	WaitNs    uint64
	DelayNs   uint64
	Address   uint64
	Waker     uint64
	Process   uint32
	Thread    uint32
	Node      uint32
	WakerNode uint32
	Weight    uint32
	State     uint16
	// 1: it has ended, and will not come again.
	Ended uint16
}

const (
	sampleBytes = 72
	nodeBytes   = 12
)

func encodeStatus(one status) []byte {
	if one.Trigger == "" {
		one.Trigger = triggerNone
	}
	one.AtNs = monotonicNs()
	if len(one.Reason) > 1000 {
		one.Reason = one.Reason[:1000]
	}
	text, _ := json.Marshal(one) // strings and numbers: it cannot fail
	return append([]byte{messageStatus}, text...)
}

// encodeFrames makes messages of frames, which have contiguous numbers from first on.
func encodeFrames(first uint32, frames []frame) [][]byte {
	var messages [][]byte
	var rows []byte
	for i, one := range frames {
		row, _ := json.Marshal([]any{
			first + uint32(i), one.Kind, one.Function, one.File, one.Line, one.Module, one.Address, one.BuildID,
		})
		if len(rows)+len(row) > maxMessage-16 {
			messages = append(messages, append(append([]byte{messageFrames, '['}, rows...), ']'))
			rows = nil
		}
		if len(rows) > 0 {
			rows = append(rows, ',')
		}
		rows = append(rows, row...)
	}
	if len(rows) > 0 {
		messages = append(messages, append(append([]byte{messageFrames, '['}, rows...), ']'))
	}
	return messages
}

// encodeNodes makes messages of nodes, which have contiguous numbers from first on.
func encodeNodes(first uint32, nodes []node) [][]byte {
	return encodeRows(messageNodes, nodeBytes, len(nodes), func(into []byte, i int) []byte {
		into = binary.LittleEndian.AppendUint32(into, first+uint32(i))
		into = binary.LittleEndian.AppendUint32(into, nodes[i].Parent)
		return binary.LittleEndian.AppendUint32(into, nodes[i].Frame)
	})
}

func encodeSamples(samples []sample) [][]byte {
	return encodeRows(messageSamples, sampleBytes, len(samples), func(into []byte, i int) []byte {
		one := samples[i]
		for _, word := range []uint64{
			one.Number, one.BeginNs, one.WaitNs, one.DelayNs, one.Address, one.Waker,
		} {
			into = binary.LittleEndian.AppendUint64(into, word)
		}
		for _, word := range []uint32{one.Process, one.Thread, one.Node, one.WakerNode, one.Weight} {
			into = binary.LittleEndian.AppendUint32(into, word)
		}
		into = binary.LittleEndian.AppendUint16(into, one.State)
		return binary.LittleEndian.AppendUint16(into, one.Ended)
	})
}

func encodeCounts(counts [countKinds]uint64) []byte {
	message := []byte{messageCounts}
	for _, one := range counts {
		message = binary.LittleEndian.AppendUint64(message, one)
	}
	return message
}

func encodeRows(kind byte, size, count int, row func(into []byte, i int) []byte) [][]byte {
	most := (maxMessage - 1) / size
	var messages [][]byte
	for begin := 0; begin < count; begin += most {
		message := []byte{kind}
		for i := begin; i < min(count, begin+most); i++ {
			message = row(message, i)
		}
		messages = append(messages, message)
	}
	return messages
}

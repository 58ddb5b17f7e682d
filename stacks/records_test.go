package main

import (
	"encoding/binary"
	"os"
	"regexp"
	"strings"
	"testing"
	"unsafe"
)

func TestARecordIsReadFieldByField(t *testing.T) {
	raw := make([]byte, recordBytes)
	for i := range 5 {
		binary.LittleEndian.PutUint64(raw[8*i:], uint64(i+1)<<40)
	}
	for i := range 3 {
		binary.LittleEndian.PutUint32(raw[40+4*i:], uint32(i+6)<<20)
	}
	binary.LittleEndian.PutUint16(raw[52:], 24)
	binary.LittleEndian.PutUint16(raw[54:], stayReleased)
	want := record{
		stay: 1 << 40, at: 2 << 40, begin: 3 << 40, address: 4 << 40, waker: 5 << 40,
		process: 6 << 20, thread: 7 << 20, weight: 8 << 20, state: 24, kind: stayReleased,
	}
	if found := parseRecord(raw); found != want {
		t.Fatal(found)
	}
}

// The C sources are the truth: this program only reads what they write.
func source(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// fields are the names and sizes of a struct's members.
func fields(t *testing.T, text, name string) (names []string, bytes int) {
	t.Helper()
	_, body, found := strings.Cut(text, "struct "+name+" {")
	if !found {
		t.Fatal(name)
	}
	body, _, _ = strings.Cut(body, "\n};")
	sizes := map[string]int{"16": 2, "32": 4, "64": 8}
	for _, one := range regexp.MustCompile(`(?m)^\s*__[us](16|32|64) (\w+)(?:\[(\d)\])?;`).FindAllStringSubmatch(body, -1) {
		count := 1
		if one[3] != "" {
			count = int(one[3][0] - '0')
		}
		names, bytes = append(names, one[2]), bytes+count*sizes[one[1]]
	}
	return names, bytes
}

func TestStructsAreThoseOfTheLedger(t *testing.T) {
	ledger := source(t, "../sampler/src/ledger/sampled_stays.bpf.h")
	names, bytes := fields(t, ledger, "stay_record")
	want := "stay at_ns begin_ns address waker tgid tid weight state kind"
	if strings.Join(names, " ") != want || bytes != recordBytes {
		t.Fatal(names, bytes)
	}
	names, _ = fields(t, ledger, "sampling")
	want = "gap_ns release_ns cost_ns stays beyond_limit no_room"
	if strings.Join(names, " ") != want || unsafe.Sizeof(shared{}) != 6*8 {
		t.Fatal(names)
	}
}

func TestKindsAreThoseOfTheLedger(t *testing.T) {
	text := source(t, "../sampler/src/ledger/sampled_stays.bpf.h")
	_, body, _ := strings.Cut(text, "enum record_kind {")
	body, _, _ = strings.Cut(body, "};")
	found := regexp.MustCompile(`(?m)^\s*(\w+)(?: = 1)?,`).FindAllStringSubmatch(body, -1)
	numbers := map[string]int{}
	for i, one := range found {
		numbers[one[1]] = i + 1
	}
	want := map[string]int{
		"STAY_BEGAN": stayBegan, "STAY_ENDED": stayEnded, "STAY_RELEASED": stayReleased, "SEEN_ON_CPU": seenOnCPU,
	}
	for name, number := range want {
		if numbers[name] != number {
			t.Fatal(numbers)
		}
	}
}

package table

import "testing"

func BenchmarkName(b *testing.B) {
	table := New()
	for b.Loop() {
		table.Name()
	}
}

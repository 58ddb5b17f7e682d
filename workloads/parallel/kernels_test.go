package main

import (
	"bytes"
	"math"
	"slices"
	"sort"
	"strings"
	"testing"

	workload "github.com/tidscope/tidscope/workloads/driver"
)

// pass does a pass of a kernel, all chunks at the same time.
func pass[K kernel](computed K) K {
	doPass(computed, new(workload.Figures))
	return computed
}

func TestChunksAreTheWholeText(t *testing.T) {
	for _, text := range []string{"", "one", "a b c ", strings.Repeat("some words ", 1000)} {
		found := parts([]byte(text), ' ')
		if len(found) != chunks || string(bytes.Join(found, nil)) != text {
			t.Errorf("%.20q is cut into %q", text, found)
		}
		for _, one := range found[:chunks-1] {
			if len(one) > 0 && !bytes.HasSuffix(one, []byte{' '}) && string(one) != text {
				t.Errorf("a word is cut: %q", one)
			}
		}
	}
}

func TestWordCount(t *testing.T) {
	computed := pass(newWordCount(1))
	found := strings.Fields(string(bytes.Join(computed.text, nil)))
	sort.Strings(found)
	for len(found) > 0 {
		count := sort.SearchStrings(found, found[0]+"\x00")
		if computed.total[found[0]] != count {
			t.Fatalf("%s: %d, not %d", found[0], computed.total[found[0]], count)
		}
		delete(computed.total, found[0])
		found = found[count:]
	}
	if len(computed.total) > 0 {
		t.Errorf("not in the text: %v", computed.total)
	}
}

func TestStringMatch(t *testing.T) {
	computed := pass(newStringMatch(1))
	text := "\n" + string(bytes.Join(computed.text, nil))
	for i, word := range wanted {
		// Two of them in a row share the end of a line.
		count := strings.Count(strings.ReplaceAll(text, "\n", "\n\n"), "\n"+word+"\n")
		if computed.total[i] != count || count == 0 {
			t.Errorf("%s: %d, not %d", word, computed.total[i], count)
		}
	}
}

func TestReverseIndex(t *testing.T) {
	computed := pass(newReverseIndex(1))
	references := 0
	for address, documents := range computed.index {
		if !slices.IsSorted(documents) || len(slices.Compact(slices.Clone(documents))) < len(documents) {
			t.Fatalf("%s: %v", address, documents)
		}
		for _, number := range documents {
			if !bytes.Contains(computed.documents[number], []byte(`"`+address+`"`)) {
				t.Fatalf("document %d does not refer to %s", number, address)
			}
		}
		references += len(documents)
	}
	wantedReferences := 0
	for _, text := range computed.documents {
		own := make(map[string]bool)
		for _, after := range strings.Split(string(text), `href="`)[1:] {
			own[strings.SplitN(after, `"`, 2)[0]] = true
		}
		wantedReferences += len(own)
	}
	if references != wantedReferences || references < 10_000 {
		t.Errorf("%d references, not %d", references, wantedReferences)
	}
}

func TestHistogram(t *testing.T) {
	computed := pass(newHistogram(1))
	for colour, counts := range computed.total {
		var all, sum, wantedSum int
		for value, count := range counts {
			all += count
			sum += value * count
		}
		for _, pixel := range computed.pixels {
			wantedSum += int(pixel[colour])
		}
		if all != len(computed.pixels) || sum != wantedSum {
			t.Errorf("colour %d: %d pixels with a sum of %d, not %d", colour, all, sum, wantedSum)
		}
	}
}

func TestLinearRegression(t *testing.T) {
	computed := pass(newLinearRegression(1))
	// The made data is y = 20 + x/2 (rounded down) + 0 to 99.
	if math.Abs(computed.slope-0.5) > 0.002 || math.Abs(computed.intercept-(20+49.5-0.25)) > 0.2 {
		t.Errorf("y = %g + %g x", computed.intercept, computed.slope)
	}
	// Residuals of the least squares have no sum, and none with x.
	var sum, withX float64
	for _, point := range computed.points {
		left := float64(point[1]) - computed.intercept - computed.slope*float64(point[0])
		sum += left
		withX += left * float64(point[0])
	}
	if n := float64(len(computed.points)); math.Abs(sum/n) > 1e-6 || math.Abs(withX/n) > 1e-6 {
		t.Errorf("residuals: %g, with x %g", sum/n, withX/n)
	}
}

func TestPCA(t *testing.T) {
	computed := pass(newPCA(1))
	n := float64(len(computed.vectors))
	var means [features]float64
	for _, vector := range computed.vectors {
		for i, value := range vector {
			means[i] += float64(value) / n
		}
	}
	for _, pair := range [][2]int{{0, 0}, {1, 3}, {31, 30}, {4, 31}} {
		i, j := pair[0], pair[1]
		var sum float64
		for _, vector := range computed.vectors {
			sum += (float64(vector[i]) - means[i]) * (float64(vector[j]) - means[j])
		}
		if found, plain := computed.covariance[i][j], sum/(n-1); math.Abs(found-plain) > 1e-6*(1+math.Abs(plain)) {
			t.Errorf("covariance of %d and %d: %g, not %g", i, j, found, plain)
		}
	}
}

func TestKMeans(t *testing.T) {
	computed := newKMeans(1)
	spread := func() float64 {
		var sum float64
		for _, at := range computed.points {
			least := math.Inf(1)
			for _, centre := range computed.centres {
				var squared float64
				for axis := range at {
					squared += (at[axis] - centre[axis]) * (at[axis] - centre[axis])
				}
				least = min(least, squared)
			}
			sum += least
		}
		return sum
	}
	// No pass makes the squares of the distances larger (Lloyd, 1982).
	before := spread()
	first := before
	for range 5 {
		pass(computed)
		after := spread()
		if after > before {
			t.Fatalf("from %g to %g", before, after)
		}
		before = after
	}
	if before > 0.9*first {
		t.Errorf("from %g to %g in 5 passes", first, before)
	}
}

func TestMatrixMultiply(t *testing.T) {
	computed := pass(newMatrixMultiply(1))
	n := computed.n
	for row := 0; row < n; row += 17 {
		for column := 0; column < n; column += 13 {
			var sum int32
			for inner := range n {
				sum += computed.a[row*n+inner] * computed.b[inner*n+column]
			}
			if found := computed.product[row*n+column]; found != sum {
				t.Fatalf("row %d, column %d: %d, not %d", row, column, found, sum)
			}
		}
	}
}

func TestAPassCountsItsChunks(t *testing.T) {
	var figures workload.Figures
	figures.Begin()
	doPass(newMatrixMultiply(1), &figures)
	if found := figures.End()["ops"]; found != chunks {
		t.Errorf("%g operations", found)
	}
}

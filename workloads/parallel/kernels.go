package main

import (
	"bytes"
	"math"
	"math/rand"
)

const (
	chunks   = 32
	clusters = 16
	words    = 5000
)

// wordCount counts how often each word occurs in 4 MB of text, times the scale.
func wordCount(scale int) kernel {
	chosen := rand.New(rand.NewSource(1))
	frequent := rand.NewZipf(chosen, 1.1, 1, words-1)
	vocabulary := make([][]byte, words)
	for i := range vocabulary {
		word := make([]byte, 2+chosen.Intn(9))
		for j := range word {
			word[j] = byte('a' + chosen.Intn(26))
		}
		vocabulary[i] = append(word, ' ')
	}
	var text bytes.Buffer
	for text.Len() < scale*4<<20 {
		text.Write(vocabulary[frequent.Uint64()])
	}
	all := text.Bytes()
	counts := make([]map[string]int, chunks)
	return kernel{chunks, func(number int) {
		found := make(map[string]int, words)
		for _, word := range bytes.Fields(part(all, number)) {
			found[string(word)]++
		}
		counts[number] = found
	}, func() {
		total := make(map[string]int, words)
		for _, found := range counts {
			for word, count := range found {
				total[word] += count
			}
		}
	}}
}

// histogram counts the values of each colour in 24 MB of pixels, times the scale.
func histogram(scale int) kernel {
	pixels := make([]byte, scale*24<<20/3*3)
	rand.New(rand.NewSource(1)).Read(pixels)
	counts := make([][3][256]int, chunks)
	return kernel{chunks, func(number int) {
		var found [3][256]int
		own := part(pixels, number)
		for i := 0; i+2 < len(own); i += 3 {
			found[0][own[i]]++
			found[1][own[i+1]]++
			found[2][own[i+2]]++
		}
		counts[number] = found
	}, func() {
		var total [3][256]int
		for _, found := range counts {
			for colour := range found {
				for value, count := range found[colour] {
					total[colour][value] += count
				}
			}
		}
	}}
}

type point [3]float64

// kMeans moves 16 centres towards the means of 50,000 points in space, times the scale.
func kMeans(scale int) kernel {
	chosen := rand.New(rand.NewSource(1))
	points := make([]point, scale*50_000)
	for i := range points {
		points[i] = point{chosen.Float64(), chosen.Float64(), chosen.Float64()}
	}
	centres := append([]point(nil), points[:clusters]...)
	type sum struct {
		points int
		at     point
	}
	sums := make([][clusters]sum, chunks)
	return kernel{chunks, func(number int) {
		var found [clusters]sum
		for _, at := range part(points, number) {
			nearest, least := 0, math.Inf(1)
			for i, centre := range centres {
				x, y, z := at[0]-centre[0], at[1]-centre[1], at[2]-centre[2]
				if distance := x*x + y*y + z*z; distance < least {
					nearest, least = i, distance
				}
			}
			found[nearest].points++
			for axis, value := range at {
				found[nearest].at[axis] += value
			}
		}
		sums[number] = found
	}, func() {
		for i := range centres {
			var all sum
			for _, found := range sums {
				all.points += found[i].points
				for axis, value := range found[i].at {
					all.at[axis] += value
				}
			}
			for axis := range centres[i] {
				if all.points > 0 {
					centres[i][axis] = all.at[axis] / float64(all.points)
				}
			}
		}
	}}
}

// matrixMultiply multiplies two matrices of integers with 256 rows, times the root of the scale.
func matrixMultiply(scale int) kernel {
	n := 256 * int(math.Sqrt(float64(scale)))
	chosen := rand.New(rand.NewSource(1))
	a, b, product := make([]int32, n*n), make([]int32, n*n), make([]int32, n*n)
	for i := range a {
		a[i], b[i] = int32(chosen.Intn(100)), int32(chosen.Intn(100))
	}
	return kernel{chunks, func(number int) {
		for row := number * n / chunks; row < (number+1)*n/chunks; row++ {
			own := product[row*n : (row+1)*n]
			clear(own)
			for k, factor := range a[row*n : (row+1)*n] {
				for column, value := range b[k*n : (k+1)*n] {
					own[column] += factor * value
				}
			}
		}
	}, func() {}}
}

// part is the chunk of a slice with a number.
func part[T any](all []T, number int) []T {
	return all[number*len(all)/chunks : (number+1)*len(all)/chunks]
}

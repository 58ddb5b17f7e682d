package main

import (
	"math"
	"math/rand"
)

const clusters = 16

// histogram counts the values of each colour in 24 MB of pixels, times the scale.
type histogram struct {
	pixels [][3]byte
	counts [][3][256]int
	total  [3][256]int
}

func newHistogram(scale int) *histogram {
	values := make([]byte, scale*24<<20/3*3)
	rand.New(rand.NewSource(1)).Read(values)
	pixels := make([][3]byte, len(values)/3)
	for i := range pixels {
		pixels[i] = [3]byte(values[3*i:])
	}
	return &histogram{pixels: pixels, counts: make([][3][256]int, chunks)}
}

func (k *histogram) chunk(number int) {
	var found [3][256]int
	for _, pixel := range part(k.pixels, number) {
		found[0][pixel[0]]++
		found[1][pixel[1]]++
		found[2][pixel[2]]++
	}
	k.counts[number] = found
}

func (k *histogram) merge() {
	k.total = [3][256]int{}
	for _, found := range k.counts {
		for colour := range found {
			for value, count := range found[colour] {
				k.total[colour][value] += count
			}
		}
	}
}

// moments are sums over points of a plane.
type moments struct{ n, x, y, xx, xy int64 }

// linearRegression finds the line with the least squares to 4 million points, times the scale.
type linearRegression struct {
	points           [][2]byte
	sums             []moments
	slope, intercept float64
}

func newLinearRegression(scale int) *linearRegression {
	chosen := rand.New(rand.NewSource(1))
	points := make([][2]byte, scale*4<<20)
	for i := range points {
		x := chosen.Intn(200)
		points[i] = [2]byte{byte(x), byte(20 + x/2 + chosen.Intn(100))}
	}
	return &linearRegression{points: points, sums: make([]moments, chunks)}
}

func (k *linearRegression) chunk(number int) {
	var found moments
	own := part(k.points, number)
	found.n = int64(len(own))
	for _, point := range own {
		x, y := int64(point[0]), int64(point[1])
		found.x += x
		found.y += y
		found.xx += x * x
		found.xy += x * y
	}
	k.sums[number] = found
}

func (k *linearRegression) merge() {
	var all moments
	for _, found := range k.sums {
		all.n += found.n
		all.x += found.x
		all.y += found.y
		all.xx += found.xx
		all.xy += found.xy
	}
	n, x, y := float64(all.n), float64(all.x), float64(all.y)
	k.slope = (n*float64(all.xy) - x*y) / (n*float64(all.xx) - x*x)
	k.intercept = (y - k.slope*x) / n
}

const features = 32

// pca finds the covariance matrix of 40,000 vectors of 32 features, times the scale: the part of a
// principal component analysis that goes over the data.
type pca struct {
	vectors    [][features]int32
	sums       []products
	covariance [features][features]float64
}

type products struct {
	single [features]int64
	both   [features][features]int64
}

func newPCA(scale int) *pca {
	chosen := rand.New(rand.NewSource(1))
	vectors := make([][features]int32, scale*40_000)
	for i := range vectors {
		common := chosen.Intn(100)
		for j := range vectors[i] {
			vectors[i][j] = int32(common*(j%4) + chosen.Intn(100))
		}
	}
	return &pca{vectors: vectors, sums: make([]products, chunks)}
}

func (k *pca) chunk(number int) {
	found := &k.sums[number]
	*found = products{}
	for at := range part(k.vectors, number) {
		vector := &part(k.vectors, number)[at]
		for i, one := range vector {
			found.single[i] += int64(one)
			for j, other := range vector[:i+1] {
				found.both[i][j] += int64(one) * int64(other)
			}
		}
	}
}

func (k *pca) merge() {
	var all products
	for number := range k.sums {
		for i := range all.single {
			all.single[i] += k.sums[number].single[i]
			for j := range i + 1 {
				all.both[i][j] += k.sums[number].both[i][j]
			}
		}
	}
	n := float64(len(k.vectors))
	for i := range all.single {
		for j := range i + 1 {
			means := float64(all.single[i]) * float64(all.single[j]) / n
			k.covariance[i][j] = (float64(all.both[i][j]) - means) / (n - 1)
			k.covariance[j][i] = k.covariance[i][j]
		}
	}
}

type point [3]float64

// kMeans moves 16 centres towards the means of 50,000 points in space, times the scale.
type kMeans struct {
	points  []point
	centres []point
	sums    [][clusters]cluster
}

type cluster struct {
	points int
	sum    point
}

func newKMeans(scale int) *kMeans {
	chosen := rand.New(rand.NewSource(1))
	points := make([]point, scale*50_000)
	for i := range points {
		points[i] = point{chosen.Float64(), chosen.Float64(), chosen.Float64()}
	}
	centres := append([]point(nil), points[:clusters]...)
	return &kMeans{points, centres, make([][clusters]cluster, chunks)}
}

func (k *kMeans) chunk(number int) {
	var found [clusters]cluster
	for _, at := range part(k.points, number) {
		nearest, least := 0, math.Inf(1)
		for i, centre := range k.centres {
			x, y, z := at[0]-centre[0], at[1]-centre[1], at[2]-centre[2]
			if distance := x*x + y*y + z*z; distance < least {
				nearest, least = i, distance
			}
		}
		found[nearest].points++
		for axis, value := range at {
			found[nearest].sum[axis] += value
		}
	}
	k.sums[number] = found
}

func (k *kMeans) merge() {
	for i := range k.centres {
		var all cluster
		for _, found := range k.sums {
			all.points += found[i].points
			for axis, value := range found[i].sum {
				all.sum[axis] += value
			}
		}
		for axis := range k.centres[i] {
			if all.points > 0 {
				k.centres[i][axis] = all.sum[axis] / float64(all.points)
			}
		}
	}
}

// matrixMultiply multiplies two matrices of integers with 256 rows, times the root of the scale.
type matrixMultiply struct {
	n             int
	a, b, product []int32
}

func newMatrixMultiply(scale int) *matrixMultiply {
	n := 256 * int(math.Sqrt(float64(scale)))
	chosen := rand.New(rand.NewSource(1))
	a, b := make([]int32, n*n), make([]int32, n*n)
	for i := range a {
		a[i], b[i] = int32(chosen.Intn(100)), int32(chosen.Intn(100))
	}
	return &matrixMultiply{n, a, b, make([]int32, n*n)}
}

func (k *matrixMultiply) chunk(number int) {
	n := k.n
	for row := number * n / chunks; row < (number+1)*n/chunks; row++ {
		own := k.product[row*n : (row+1)*n]
		clear(own)
		for inner, factor := range k.a[row*n : (row+1)*n] {
			for column, value := range k.b[inner*n : (inner+1)*n] {
				own[column] += factor * value
			}
		}
	}
}

func (k *matrixMultiply) merge() {}

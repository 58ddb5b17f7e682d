// Package predict is a client of the prediction service of a host: it reads models in shared memory,
// without a system call, and sends what was learnt.
//
//	model, err := predict.Open("my-cache", predict.Options{Create: true, Sharing: predict.ShareRead})
//	if err == nil && model.Predict(size, kind) > 0 { ... }
//	model.Update(true, size, kind)
//	model.Flush()
package predict

// Features is the maximum number of features; Entries is the number of weights in each table.
const (
	Features = 16
	Entries  = 1024
)

const (
	hash  = 0x9E3779B97F4A7C15
	shift = 54
)

// Entry returns the index of the weight that a feature picks in its table.
func Entry(feature int64) int {
	return int(uint64(feature) * hash >> shift)
}

// Sum returns the sum of the weights: above 0 yes, below 0 no, 0 undecided, as it is without features or
// with more than 16.
func Sum(weights []byte, features []int64) int {
	if len(features) > Features || len(weights) < Features*Entries {
		return 0
	}
	tables := (*[Features * Entries]byte)(weights)
	sum := 0
	for i, feature := range features {
		// With the mask the compiler sees that the index is not too large.
		at := uint64(i)*Entries + uint64(feature)*hash>>shift
		sum += int(int8(tables[at%(Features*Entries)]))
	}
	return sum
}

// Named returns the feature of a name (FNV-1a, 64 bits).
func Named(text string) int64 {
	value := uint64(0xCBF29CE484222325)
	for i := 0; i < len(text); i++ {
		value = (value ^ uint64(text[i])) * 0x100000001B3
	}
	return int64(value)
}

// Rounded returns the feature of a number, rounded to its first digit: 1234 becomes 1000.
func Rounded(number int64) int64 {
	size := uint64(number)
	if number < 0 {
		size = -size
	}
	power := uint64(1)
	for size/power >= 10 {
		power *= 10
	}
	nearest := (size + power/2) / power * power
	if number < 0 {
		nearest = -nearest
	}
	return int64(nearest)
}

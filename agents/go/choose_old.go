//go:build !go1.25

package tidscope

// Before Go 1.25 the runtime chooses once, at the start.
func chooseByRuntime() {}

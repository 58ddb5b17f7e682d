// The least Go program that has a GOMAXPROCS.
package main

import "runtime"

func main() {
	println(runtime.GOMAXPROCS(0))
}

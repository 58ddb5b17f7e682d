// A Go program that says its GOMAXPROCS, and sets it to the next number of its arguments at each
// SIGUSR1.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
)

func main() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGUSR1)
	fmt.Println(runtime.GOMAXPROCS(0))
	for _, argument := range os.Args[1:] {
		<-signals
		number, err := strconv.Atoi(argument)
		if err != nil {
			panic(err)
		}
		runtime.GOMAXPROCS(number)
		fmt.Println(runtime.GOMAXPROCS(0))
	}
	<-signals
}

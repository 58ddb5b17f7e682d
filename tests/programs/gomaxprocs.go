// A Go program that says its GOMAXPROCS, and sets it to the next number of its arguments at each
// SIGUSR1. After the last one, EXEC=PROGRAM makes it become that program, with its process id.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

func main() {
	// The runtime looks at its processors only while the program is not wholly idle.
	go func() {
		for range time.Tick(10 * time.Millisecond) {
		}
	}()
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
	if program := os.Getenv("EXEC"); program != "" {
		panic(syscall.Exec(program, []string{program, "-c", "echo $$; read forever"}, nil))
	}
	<-signals
}

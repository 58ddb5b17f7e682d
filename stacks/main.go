// Program tidscope-stacks takes stacks of threads for the collector.
//
// The collector starts it with a socket as descriptor 3 (SOCK_SEQPACKET, messages in message.go).
// That process, the keeper, only waits: it costs no CPU and has nothing in the kernel. When stacks
// are wanted it executes itself as a worker, which loads the unwinder, and ends when they are not
// wanted any more. So each worker begins with nothing that an earlier one knew of a process.
package main

import (
	"fmt"
	"os"
)

func main() {
	run := keep
	if len(os.Args) > 1 && os.Args[1] == "work" {
		run = work
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "tidscope-stacks:", err)
		os.Exit(1)
	}
}

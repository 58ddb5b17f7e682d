// A program with the Go agent, driven by lines at its standard input; it answers each with one.
//
//	ops N      do N operations            -> ops N
//	busy N     how many can work at once  -> busy M
//	restart    ask for a new search       -> restart
//	close      end the agent              -> close
package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strings"

	tidscope "github.com/tidscope/tidscope/agents/go"
)

func main() {
	runtime.GOMAXPROCS(3)
	agent, err := tidscope.Start(tidscope.Bounds(1, 8))
	if err != nil {
		fmt.Println("failed:", err)
		return
	}
	pool := tidscope.NewPool("pool", 3)
	fmt.Println("ready", agent.Path)
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		word, argument, _ := strings.Cut(lines.Text(), " ")
		number := 0
		fmt.Sscan(argument, &number)
		switch word {
		case "ops":
			operate(pool, number)
			fmt.Println("ops", number)
		case "busy":
			fmt.Println("busy", runtime.GOMAXPROCS(0))
		case "restart":
			tidscope.RestartSearch()
			fmt.Println("restart")
		case "close":
			fmt.Println("close", agent.Close())
		}
	}
	agent.Close()
}

// operate counts in several goroutines, as a server does.
func operate(pool *tidscope.Pool, number int) {
	for range make([]struct{}, number) {
		pool.Submit(func() error {
			tidscope.Ops.Add(1)
			return nil
		})
	}
	// The figures of a job are counted once it has returned.
	pool.Drain()
}

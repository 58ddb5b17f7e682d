// HotROD as it is, and beside it the profile of its mutexes, which the collector reads if it may.
package main

import (
	"log"
	"net/http"
	_ "net/http/pprof"
	"os"
	"runtime"

	"github.com/jaegertracing/jaeger/examples/hotrod/cmd"
)

func main() {
	runtime.SetMutexProfileFraction(1)
	go func() {
		log.Fatal(http.ListenAndServe(os.Getenv("PROFILE_ADDRESS"), nil))
	}()
	cmd.Execute()
}

// A tiny web service, in one of several frameworks: GET /hello, which may sleep before it answers.
//
// It does what the Go web framework benchmark does (github.com/smallnest/go-web-framework-benchmark),
// in a process that tidscope can steer.
package main

import (
	"flag"
	"io"
	"log"
	"net"
	"net/http"
	"runtime"
	"time"

	fastrouter "github.com/fasthttp/router"
	"github.com/gin-gonic/gin"
	"github.com/go-martini/martini"
	"github.com/gorilla/mux"
	"github.com/julienschmidt/httprouter"
	workload "github.com/tidscope/tidscope/workloads/driver"
	"github.com/valyala/fasthttp"
)

// reply is what every framework answers.
const reply = "Hello, World"

func main() {
	framework := flag.String("framework", "net-http", "which framework answers")
	sleep := flag.Duration("sleep", 0, "how long each request sleeps")
	upper := flag.Int("upper", 1, "what GOMAXPROCS may be steered to")
	flag.Parse()
	serve, known := frameworks[*framework]
	if !known {
		log.Fatalf("there is no framework %q", *framework)
	}
	defer workload.Start(*upper).Close()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	var figures workload.Figures
	go func() { log.Fatal(serve(listener, func() { work(*sleep, &figures) })) }()
	workload.Serve(listener.Addr().String(), &figures)
}

// work is what a request does, whichever framework serves it.
func work(sleep time.Duration, figures *workload.Figures) {
	if sleep > 0 {
		time.Sleep(sleep)
	} else {
		runtime.Gosched()
	}
	figures.Done(1)
}

// A server serves GET /hello at a listener; each request does some work first.
type server func(listener net.Listener, work func()) error

var frameworks = map[string]server{
	"net-http":        serveNetHTTP,
	"gorilla":         serveGorilla,
	"gin":             serveGin,
	"httprouter":      serveHTTPRouter,
	"fasthttp":        serveFastHTTP,
	"fasthttp-router": serveFastHTTPRouter,
	"martini":         serveMartini,
}

func answering(work func()) http.HandlerFunc {
	return func(writer http.ResponseWriter, _ *http.Request) {
		work()
		io.WriteString(writer, reply)
	}
}

func serveNetHTTP(listener net.Listener, work func()) error {
	paths := http.NewServeMux()
	paths.HandleFunc("GET /hello", answering(work))
	return http.Serve(listener, paths)
}

func serveGorilla(listener net.Listener, work func()) error {
	paths := mux.NewRouter()
	paths.HandleFunc("/hello", answering(work)).Methods("GET")
	return http.Serve(listener, paths)
}

func serveGin(listener net.Listener, work func()) error {
	gin.SetMode(gin.ReleaseMode)
	paths := gin.New()
	paths.GET("/hello", func(context *gin.Context) {
		work()
		context.String(http.StatusOK, reply)
	})
	return http.Serve(listener, paths)
}

func serveHTTPRouter(listener net.Listener, work func()) error {
	paths := httprouter.New()
	paths.HandlerFunc("GET", "/hello", answering(work))
	return http.Serve(listener, paths)
}

func serveFastHTTP(listener net.Listener, work func()) error {
	return fasthttp.Serve(listener, func(request *fasthttp.RequestCtx) {
		if string(request.Path()) != "/hello" {
			request.NotFound()
			return
		}
		work()
		request.SetBodyString(reply)
	})
}

func serveFastHTTPRouter(listener net.Listener, work func()) error {
	paths := fastrouter.New()
	paths.GET("/hello", func(request *fasthttp.RequestCtx) {
		work()
		request.SetBodyString(reply)
	})
	return fasthttp.Serve(listener, paths.Handler)
}

func serveMartini(listener net.Listener, work func()) error {
	paths := martini.NewRouter()
	paths.Get("/hello", func() string {
		work()
		return reply
	})
	service := martini.New()
	service.Map(log.New(io.Discard, "", 0))
	service.Action(paths.Handle)
	return http.Serve(listener, service)
}

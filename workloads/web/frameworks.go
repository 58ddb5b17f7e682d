package main

import (
	"io"
	"log"
	"net"
	"net/http"

	fastrouter "github.com/fasthttp/router"
	"github.com/gin-gonic/gin"
	"github.com/go-martini/martini"
	"github.com/gorilla/mux"
	"github.com/julienschmidt/httprouter"
	"github.com/valyala/fasthttp"
)

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

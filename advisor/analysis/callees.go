package analysis

import (
	"go/types"
	"strings"

	"golang.org/x/tools/go/callgraph/rta"
	"golang.org/x/tools/go/callgraph/vta"
	"golang.org/x/tools/go/ssa"
)

// mostTargets is the maximum number of functions that a followed call may reach; a call that reaches
// more is unknown.
const mostTargets = 8

// callees returns the functions that a call may reach. Direct calls are followed everywhere. Calls
// through interfaces and function values are followed by variable type analysis, in the requested
// packages only: in the standard library they reach everything.
type callees struct {
	program *program
	dynamic map[ssa.CallInstruction][]*ssa.Function
}

func newCallees(program *program) *callees {
	found := &callees{program, map[ssa.CallInstruction][]*ssa.Function{}}
	var roots []*ssa.Function
	for _, function := range program.functions {
		if function.TypeParams().Len() == 0 && function.Parent() == nil {
			roots = append(roots, function)
		}
	}
	if len(roots) == 0 {
		return found
	}
	types := rta.Analyze(roots, true)
	reached := map[*ssa.Function]bool{}
	for function := range types.Reachable {
		reached[function] = true
	}
	graph := vta.CallGraph(reached, types.CallGraph)
	for _, function := range program.functions {
		node := graph.Nodes[function]
		if node == nil {
			continue
		}
		for _, edge := range node.Out {
			if edge.Site != nil && edge.Site.Common().StaticCallee() == nil {
				found.dynamic[edge.Site] = append(found.dynamic[edge.Site], edge.Callee.Func)
			}
		}
	}
	return found
}

// of lists what a call may reach; sure is whether there is no other; known whether there is any.
func (c *callees) of(call ssa.CallInstruction) (targets []*ssa.Function, sure, known bool) {
	if static := call.Common().StaticCallee(); static != nil {
		return []*ssa.Function{static}, true, true
	}
	if _, builtin := call.Common().Value.(*ssa.Builtin); builtin {
		return nil, true, true
	}
	found := c.dynamic[call]
	if len(found) > mostTargets {
		return nil, false, false
	}
	return found, false, len(found) > 0
}

// waits lists functions by what they wait for; a package name stands for all its functions.
var waits = map[string]string{
	"time.Sleep":                   "sleep",
	"time.After":                   "",
	"(*sync.WaitGroup).Wait":       "wait",
	"(*sync.Cond).Wait":            "wait",
	"(*os/exec.Cmd).Wait":          "io",
	"(*database/sql.DB)":           "io",
	"(*database/sql.Tx)":           "io",
	"(*database/sql.Stmt)":         "io",
	"(*net/http.Client)":           "io",
	"net/http.Get":                 "io",
	"net/http.Post":                "io",
	"fmt.Print":                    "io",
	"fmt.Println":                  "io",
	"fmt.Printf":                   "io",
	"fmt.Fprint":                   "io",
	"fmt.Fprintln":                 "io",
	"fmt.Fprintf":                  "io",
	"log.":                         "io",
	"(*log.Logger)":                "io",
	"log/slog.":                    "io",
	"(*log/slog.Logger)":           "io",
	"syscall.Syscall":              "io",
	"syscall.RawSyscall":           "io",
	"syscall.rawSyscallNoError":    "io",
	"golang.org/x/sys/unix.":       "io",
	"internal/runtime/syscall/":    "io",
	"internal/poll.":               "io",
	"(*internal/poll.FD)":          "io",
	"(net/http.ResponseWriter)":    "io",
	"(io.Writer).Write":            "io",
	"(io.Reader).Read":             "io",
	"(io.ReadWriter)":              "io",
	"(io.ReadCloser).Read":         "io",
	"(io.WriteCloser).Write":       "io",
	"(net.Conn)":                   "io",
	"(net.Listener)":               "io",
	"(net.PacketConn)":             "io",
	"(io/fs.File)":                 "io",
	"(*bufio.Writer).Flush":        "io",
	"runtime.Gosched":              "wait",
	"runtime.GC":                   "wait",
	"internal/syscall/unix.":       "io",
	"(*encoding/json.Encoder)":     "io",
	"(*encoding/json.Decoder)":     "io",
	"github.com/prometheus/procfs": "io",
}

// waitOf returns what a call of another package's function waits for; empty if nothing is known.
func waitOf(name string) string {
	if kind, listed := waits[name]; listed {
		return kind
	}
	for prefix, kind := range waits {
		whole := strings.HasSuffix(prefix, ".") || strings.HasSuffix(prefix, "/")
		if whole && strings.HasPrefix(name, prefix) {
			return kind
		}
		if strings.HasSuffix(prefix, ")") && strings.HasPrefix(name, prefix+".") {
			return kind
		}
	}
	if strings.HasPrefix(name, "syscall.Syscall") || strings.HasPrefix(name, "syscall.RawSyscall") {
		return "io"
	}
	return ""
}

// pure lists packages whose functions (not methods) write only to their results.
var pure = map[string]bool{
	"errors": true, "fmt": true, "math": true, "math/bits": true, "path": true, "path/filepath": true,
	"strconv": true, "strings": true, "time": true, "unicode": true, "unicode/utf8": true,
}

func isPure(function *ssa.Function) bool {
	if function.Pkg == nil || !pure[function.Pkg.Pkg.Path()] {
		return false
	}
	receiver := function.Signature.Recv()
	if receiver == nil {
		return true
	}
	_, pointer := receiver.Type().(*types.Pointer)
	return !pointer
}

// calledName is the full name of what a call names: a function, or a method of an interface.
func calledName(call *ssa.CallCommon) string {
	if call.IsInvoke() {
		return "(" + types.TypeString(call.Value.Type(), nil) + ")." + call.Method.Name()
	}
	if function := call.StaticCallee(); function != nil {
		return fullName(function)
	}
	return ""
}

func fullName(function *ssa.Function) string {
	if origin := function.Origin(); origin != nil {
		function = origin
	}
	if object, ok := function.Object().(*types.Func); ok {
		return object.FullName()
	}
	return functionName(function)
}

package tidscope

import (
	"fmt"
	"os"
	"runtime"
)

// most is the largest size that the protocol has room for.
const most = 1 << 20

type bounds struct{ lower, upper int }

func (b bounds) check(original int) error {
	if 1 <= b.lower && b.lower <= original && original <= b.upper && b.upper <= most {
		return nil
	}
	return fmt.Errorf("tidscope: bounds %d to %d: they must begin at 1 or later and hold GOMAXPROCS,"+
		" which is %d", b.lower, b.upper, original)
}

// gomaxprocs is the knob: the number of processors that run goroutines.
type gomaxprocs struct {
	original int
	// byRuntime: the runtime chose it, as far as is known, and follows what the machine offers.
	byRuntime bool
}

func newGomaxprocs() gomaxprocs {
	return gomaxprocs{runtime.GOMAXPROCS(0), os.Getenv("GOMAXPROCS") == ""}
}

func (g gomaxprocs) size() int { return runtime.GOMAXPROCS(0) }

// set returns once the size is in effect. The runtime stops the program for it, and waits for a
// running garbage collection first.
func (g gomaxprocs) set(size int) { runtime.GOMAXPROCS(size) }

func (g gomaxprocs) restore() {
	if g.byRuntime {
		// Leaves the choice to the runtime again, which set had taken from it.
		chooseByRuntime()
	}
	if g.size() != g.original {
		g.set(g.original)
	}
}

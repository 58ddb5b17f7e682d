//go:build go1.25

package tidscope

import "runtime"

func chooseByRuntime() { runtime.SetDefaultGOMAXPROCS() }

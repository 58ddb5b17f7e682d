package main

import (
	"fmt"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Rights to load the unwinder: programs and maps, perf events and tracepoints, memory maps and memory
// of other users' processes, their executables, the kernel's symbols.
var workerRights = []uint{
	unix.CAP_BPF, unix.CAP_PERFMON, unix.CAP_SYS_PTRACE, unix.CAP_DAC_READ_SEARCH,
	unix.CAP_CHECKPOINT_RESTORE, unix.CAP_SYSLOG,
}

// Rights after loading: maps for new executables, and files of processes.
var unwindingRights = []uint{
	unix.CAP_BPF, unix.CAP_SYS_PTRACE, unix.CAP_DAC_READ_SEARCH, unix.CAP_CHECKPOINT_RESTORE,
}

// harden gives up what neither this process nor a worker needs: groups, core dumps, and rights that
// executing a program would give.
func harden() error {
	// Without CAP_SETGID the groups stay.
	_, _, _ = syscall.AllThreadsSyscall(unix.SYS_SETGROUPS, 0, 0, 0)
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}); err != nil {
		return fmt.Errorf("core dumps: %w", err)
	}
	if _, _, failed := syscall.AllThreadsSyscall(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0); failed != 0 {
		return fmt.Errorf("no_new_privs: %w", failed)
	}
	return nil
}

// permitted are those of some capabilities that this process has.
func permitted(wanted []uint) ([]uintptr, error) {
	var has [2]unix.CapUserData
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	if err := unix.Capget(&header, &has[0]); err != nil {
		return nil, fmt.Errorf("capabilities: %w", err)
	}
	var found []uintptr
	for _, one := range wanted {
		if has[one/32].Permitted>>(one%32)&1 == 1 {
			found = append(found, uintptr(one))
		}
	}
	return found, nil
}

// keepRights gives up all other capabilities, in all threads, for ever.
func keepRights(kept []uint) error {
	keep := map[uint]bool{}
	for _, one := range kept {
		keep[one] = true
	}
	var held [2]unix.CapUserData
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	if err := unix.Capget(&header, &held[0]); err != nil {
		return fmt.Errorf("capabilities: %w", err)
	}
	for number := uint(0); number <= unix.CAP_LAST_CAP; number++ {
		if keep[number] {
			continue
		}
		held[number/32].Permitted &^= 1 << (number % 32)
		// Without CAP_SETPCAP there is nothing to give up.
		_, _, _ = syscall.AllThreadsSyscall(unix.SYS_PRCTL, unix.PR_CAPBSET_DROP, uintptr(number), 0)
	}
	for i := range held {
		held[i].Effective = held[i].Permitted
		held[i].Inheritable = 0
	}
	_, _, failed := syscall.AllThreadsSyscall(
		unix.SYS_CAPSET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&held[0])), 0)
	runtime.KeepAlive(&held)
	if failed != 0 {
		return fmt.Errorf("giving up capabilities: %w", failed)
	}
	_, _, _ = syscall.AllThreadsSyscall(unix.SYS_PRCTL, unix.PR_SET_DUMPABLE, 0, 0)
	return nil
}

package main

import (
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// From linux/seccomp.h, linux/audit.h.
const (
	setModeFilter  = 1
	forAllThreads  = 1
	answerError    = 0x00050000
	allow          = 0x7fff0000
	archAMD64      = 0xC000003E
	archARM64      = 0xC00000B7
	loadWord       = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
	jumpIfEqual    = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
	jumpIfAnySet   = unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K
	answer         = unix.BPF_RET | unix.BPF_K
	callNumberAt   = 0
	archAt         = 4
	firstArgument  = 16
	secondArgument = 24
	thirdArgument  = 32
)

// writing are the flags of opening a file in any other way than for reading.
const writing = unix.O_WRONLY | unix.O_RDWR | unix.O_CREAT | unix.O_TRUNC | unix.O_APPEND

// calls that a worker may make: those of Go's runtime, eBPF, perf events, and reading of processes
// and their files. It cannot execute, connect, listen or trace; callFilter lets it open files for
// reading only, and signal nobody else.
var calls = []uint32{
	unix.SYS_READ, unix.SYS_WRITE, unix.SYS_CLOSE, unix.SYS_FSTAT, unix.SYS_LSEEK, unix.SYS_PREAD64,
	unix.SYS_READLINKAT, unix.SYS_NEWFSTATAT, unix.SYS_STATX,
	unix.SYS_GETDENTS64, unix.SYS_FACCESSAT, unix.SYS_FACCESSAT2, unix.SYS_STATFS,
	unix.SYS_MMAP, unix.SYS_MUNMAP, unix.SYS_MADVISE, unix.SYS_MPROTECT, unix.SYS_MREMAP, unix.SYS_BRK,
	unix.SYS_CLONE, unix.SYS_EXIT, unix.SYS_EXIT_GROUP, unix.SYS_FUTEX, unix.SYS_GETTID, unix.SYS_GETPID,
	unix.SYS_GETPPID, unix.SYS_SCHED_YIELD, unix.SYS_SCHED_GETAFFINITY,
	unix.SYS_SET_ROBUST_LIST, unix.SYS_RSEQ, unix.SYS_RESTART_SYSCALL, unix.SYS_MINCORE,
	unix.SYS_RT_SIGACTION, unix.SYS_RT_SIGPROCMASK, unix.SYS_RT_SIGRETURN, unix.SYS_SIGALTSTACK,
	unix.SYS_CLOCK_GETTIME, unix.SYS_CLOCK_NANOSLEEP, unix.SYS_NANOSLEEP, unix.SYS_GETRANDOM,
	unix.SYS_TIMER_CREATE, unix.SYS_TIMER_SETTIME, unix.SYS_TIMER_DELETE, unix.SYS_SETITIMER,
	unix.SYS_EPOLL_CREATE1, unix.SYS_EPOLL_CTL, unix.SYS_EPOLL_PWAIT, unix.SYS_EVENTFD2, unix.SYS_PIPE2,
	unix.SYS_PPOLL, unix.SYS_FCNTL, unix.SYS_DUP, unix.SYS_DUP3, unix.SYS_IOCTL, unix.SYS_UNAME,
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_PROCESS_VM_READV, unix.SYS_PIDFD_OPEN,
	unix.SYS_CAPGET, unix.SYS_CAPSET, unix.SYS_PRCTL, unix.SYS_GETRLIMIT, unix.SYS_SETRLIMIT,
	// Calls of the netlink socket that reports the kernel's modules.
	unix.SYS_BIND, unix.SYS_RECVMSG, unix.SYS_RECVFROM, unix.SYS_GETSOCKNAME, unix.SYS_GETSOCKOPT,
	unix.SYS_SETSOCKOPT,
}

// confine limits what this process can call; other calls fail as if the kernel had none of them.
//
// Setting the limit of locked memory is answered with success, and not done: the unwinder's library
// insists on it, it needs CAP_SYS_RESOURCE, and no kernel since Linux 5.11 counts maps that way.
func confine() error {
	arch := map[string]uint32{"amd64": archAMD64, "arm64": archARM64}[runtime.GOARCH]
	filter := callFilter(arch, uint32(os.Getpid()))
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	_, _, failed := unix.Syscall(
		unix.SYS_SECCOMP, setModeFilter, forAllThreads, uintptr(unsafe.Pointer(&program)))
	if failed != 0 {
		return fmt.Errorf("filter of system calls: %w", failed)
	}
	return nil
}

// callFilter is the filter of a process as the kernel takes it.
func callFilter(arch, process uint32) []unix.SockFilter {
	refuse := unix.SockFilter{Code: answer, K: answerError | uint32(unix.ENOSYS)}
	accept := unix.SockFilter{Code: answer, K: allow}
	filter := []unix.SockFilter{
		{Code: loadWord, K: archAt},
		{Code: jumpIfEqual, Jt: 1, K: arch},
		refuse,
		{Code: loadWord, K: callNumberAt},
		{Code: jumpIfEqual, Jf: 4, K: unix.SYS_PRLIMIT64},
		{Code: loadWord, K: secondArgument},
		{Code: jumpIfEqual, Jf: 1, K: unix.RLIMIT_MEMLOCK},
		{Code: answer, K: answerError},
		accept,
		{Code: jumpIfEqual, Jf: 4, K: unix.SYS_SOCKET},
		{Code: loadWord, K: firstArgument},
		{Code: jumpIfEqual, Jf: 1, K: unix.AF_NETLINK},
		accept,
		refuse,
		{Code: jumpIfEqual, Jf: 4, K: unix.SYS_OPENAT},
		{Code: loadWord, K: thirdArgument},
		{Code: jumpIfAnySet, Jt: 1, K: writing},
		accept,
		{Code: answer, K: answerError | uint32(unix.EACCES)},
		// Signal 0 asks whether a thread exists.
		{Code: jumpIfEqual, Jf: 6, K: unix.SYS_TGKILL},
		{Code: loadWord, K: thirdArgument},
		{Code: jumpIfEqual, Jt: 2},
		{Code: loadWord, K: firstArgument},
		{Code: jumpIfEqual, Jf: 1, K: process},
		accept,
		{Code: answer, K: answerError | uint32(unix.EPERM)},
	}
	for _, call := range calls {
		filter = append(filter, unix.SockFilter{Code: jumpIfEqual, Jf: 1, K: call}, accept)
	}
	return append(filter, refuse)
}

package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
)

// attempt names what a confined copy of this program tries; its folder is the argument.
const attempt = "TIDSCOPE_STACKS_ATTEMPT"

var attempts = map[string]func(folder string) error{
	"read": func(folder string) error {
		_, err := os.ReadFile(filepath.Join(folder, "file"))
		return err
	},
	"collect garbage": func(string) error {
		// The runtime signals its own threads.
		runtime.GC()
		return nil
	},
	"raise the limit of locked memory": func(string) error {
		return unix.Setrlimit(unix.RLIMIT_MEMLOCK, &unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY})
	},
	"ask for another process": func(string) error {
		parent := os.Getppid()
		return unix.Tgkill(parent, parent, 0)
	},
	"end another process": func(string) error {
		parent := os.Getppid()
		return unix.Tgkill(parent, parent, unix.SIGTERM)
	},
	"write": func(folder string) error {
		_, err := os.OpenFile(filepath.Join(folder, "file"), os.O_WRONLY, 0)
		return err
	},
	"read and write": func(folder string) error {
		_, err := os.OpenFile(filepath.Join(folder, "file"), os.O_RDWR, 0)
		return err
	},
	"truncate": func(folder string) error {
		_, err := os.OpenFile(filepath.Join(folder, "file"), os.O_RDONLY|os.O_TRUNC, 0)
		return err
	},
	"create": func(folder string) error {
		_, err := os.OpenFile(filepath.Join(folder, "other"), os.O_RDONLY|os.O_CREATE, 0o600)
		return err
	},
	"remove": func(folder string) error { return os.Remove(filepath.Join(folder, "file")) },
	"execute": func(string) error {
		return unix.Exec("/proc/self/exe", []string{"tidscope-stacks"}, nil)
	},
	"listen": func(string) error {
		_, err := net.Listen("tcp", "127.0.0.1:0")
		return err
	},
	"connect": func(folder string) error {
		_, err := net.Dial("unix", filepath.Join(folder, "socket"))
		return err
	},
	"trace": func(string) error { return unix.PtraceAttach(os.Getppid()) },
	"mount": func(folder string) error { return unix.Mount("none", folder, "tmpfs", 0, "") },
}

func TestMain(m *testing.M) {
	try, ok := attempts[os.Getenv(attempt)]
	if !ok {
		os.Exit(m.Run())
	}
	if err := harden(); err != nil {
		fmt.Print("harden: ", err)
	} else if err := confine(); err != nil {
		fmt.Print("confine: ", err)
	} else if err := try(os.Args[1]); err != nil {
		var number unix.Errno
		if !errors.As(err, &number) {
			fmt.Print(err)
		}
		fmt.Print(unix.ErrnoName(number))
	} else {
		fmt.Print("done")
	}
	os.Exit(0)
}

func TestAWorkerCanDoNothingButTakeStacks(t *testing.T) {
	for what, want := range map[string]string{
		"read": "done", "collect garbage": "done", "raise the limit of locked memory": "done",
		"ask for another process": "done", "end another process": "EPERM",
		"write": "EACCES", "read and write": "EACCES", "truncate": "EACCES", "create": "EACCES",
		"remove": "ENOSYS", "execute": "ENOSYS", "listen": "ENOSYS",
		"connect": "ENOSYS", "trace": "ENOSYS", "mount": "ENOSYS",
	} {
		t.Run(what, func(t *testing.T) {
			folder := t.TempDir()
			if err := os.WriteFile(filepath.Join(folder, "file"), []byte("text"), 0o600); err != nil {
				t.Fatal(err)
			}
			child := exec.Command("/proc/self/exe", folder)
			child.Env = append(os.Environ(), attempt+"="+what)
			said, err := child.Output()
			if err != nil || string(said) != want {
				t.Errorf("it says %s (%v), not %s", strconv.Quote(string(said)), err, want)
			}
			if text, err := os.ReadFile(filepath.Join(folder, "file")); err != nil || string(text) != "text" {
				t.Errorf("the file is %q now (%v)", text, err)
			}
		})
	}
}

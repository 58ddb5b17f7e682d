package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Descriptors that are inherited: the socket, then the maps of the ledger's program.
const (
	socketFD = 3 + iota
	samplingFD
	askedFD
	staysFD
	targetsFD
	watchedFD
	endFD
)

const mapCount = endFD - samplingFD

// How long a worker may take to end before it is killed.
const endPatience = 2 * time.Second

type keeper struct {
	socket int
	maps   []*os.File
	worker *exec.Cmd
	input  io.Closer
	ended  chan error
	killed atomic.Bool // by end
}

// keep waits for commands until the collector closes its end.
func keep() error {
	// A worker is killed when the thread that started it ends.
	runtime.LockOSThread()
	if err := harden(); err != nil {
		return err
	}
	if err := keepRights(workerRights); err != nil {
		return err
	}
	k := keeper{socket: socketFD}
	defer k.end()
	maps, err := receiveMaps(k.socket)
	if err != nil {
		return err
	}
	k.maps = maps
	message := make([]byte, 16)
	for {
		n, err := unix.Read(k.socket, message)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || n == 0 {
			return err
		}
		switch string(message[:n]) {
		case commandBegin:
			k.begin()
		case commandEnd:
			k.end()
		}
	}
}

// receiveMaps takes the descriptors of the ledger's maps, which exist only after this process does.
func receiveMaps(socket int) ([]*os.File, error) {
	data, control := make([]byte, 16), make([]byte, unix.CmsgSpace(4*mapCount))
	_, n, _, _, err := unix.Recvmsg(socket, data, control, unix.MSG_CMSG_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("receiving maps: %w", err)
	}
	if n == 0 {
		return nil, io.EOF
	}
	messages, err := unix.ParseSocketControlMessage(control[:n])
	if err != nil || len(messages) != 1 {
		return nil, fmt.Errorf("receiving maps: %d control messages: %w", len(messages), err)
	}
	descriptors, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(descriptors) != mapCount {
		return nil, fmt.Errorf("receiving maps: %d descriptors: %w", len(descriptors), err)
	}
	files := make([]*os.File, len(descriptors))
	for i, descriptor := range descriptors {
		files[i] = os.NewFile(uintptr(descriptor), "map")
	}
	return files, nil
}

// begin starts a worker. An earlier one has failed, or the collector would not ask; it may be about to
// end.
func (k *keeper) begin() {
	k.end()
	worker := exec.Command("/proc/self/exe", "work")
	worker.Args[0] = os.Args[0]
	worker.Stderr = os.Stderr
	worker.Env = []string{"GOMEMLIMIT=64MiB", "GOMAXPROCS=2"}
	worker.ExtraFiles = append([]*os.File{os.NewFile(uintptr(k.socket), "socket")}, k.maps...)
	// To a user other than root executing a program leaves ambient capabilities only.
	rights, err := permitted(workerRights)
	worker.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, AmbientCaps: rights}
	var input io.WriteCloser
	if err == nil {
		input, err = worker.StdinPipe()
	}
	if err == nil {
		err = worker.Start()
	}
	if err != nil {
		k.say(status{State: stateFailed, Reason: err.Error()})
		return
	}
	k.worker, k.input, k.ended = worker, input, make(chan error, 1)
	k.killed.Store(false)
	go func(ended chan<- error) {
		err := worker.Wait()
		stopSampling(k.maps[0])
		switch {
		case err == nil || k.killed.Load():
			k.say(status{State: stateEnded})
		case worker.ProcessState.ExitCode() != exitExplained:
			k.say(status{State: stateFailed, Reason: err.Error()})
		}
		ended <- err
	}(k.ended)
}

// end lets the worker end, if there is one.
func (k *keeper) end() {
	if k.worker == nil {
		return
	}
	_ = k.input.Close()
	select {
	case <-k.ended:
	case <-time.After(endPatience):
		// The worker was asked to end and is late: loading the unwinder takes long on a busy machine.
		k.killed.Store(true)
		_ = k.worker.Process.Kill()
		<-k.ended
	}
	k.worker = nil
}

// say tells the collector; if it cannot hear, its end of the socket is closed.
func (k *keeper) say(one status) {
	_, _ = unix.Write(k.socket, encodeStatus(one))
}

package tidscope

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
	"time"
)

const folderVariable = "TIDSCOPE_AGENT_DIR"

// listen makes the socket of this process in the first usable folder.
func listen(pid int) (*net.UnixListener, string, error) {
	var wrong []error
	for _, folder := range folders() {
		if err := prepare(folder); err != nil {
			wrong = append(wrong, err)
			continue
		}
		path := filepath.Join(folder, strconv.Itoa(pid)+".sock")
		listener, err := bind(path)
		if err == nil {
			sweep(folder)
			return listener, path, nil
		}
		wrong = append(wrong, fmt.Errorf("%s: %w", path, err))
	}
	return nil, "", fmt.Errorf("tidscope: no folder for a socket: %w", errors.Join(wrong...))
}

// folders lists the folders that a collector searches, in order.
func folders() []string {
	if folder := os.Getenv(folderVariable); folder != "" {
		return []string{folder}
	}
	var found []string
	uid := os.Geteuid()
	// sudo may leave another user's folder in the environment.
	if folder := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(folder) && owner(folder) == uid {
		found = append(found, filepath.Join(folder, "tidscope"))
	}
	if folder := fmt.Sprintf("/run/user/%d", uid); owner(folder) == uid {
		found = append(found, filepath.Join(folder, "tidscope"))
	}
	return append(found, "/run/tidscope")
}

// prepare makes a folder if it is missing, and refuses one that others can change.
func prepare(folder string) error {
	if !filepath.IsAbs(folder) {
		return fmt.Errorf("%s: not an absolute path", folder)
	}
	mode := os.FileMode(0o700)
	if folder == "/run/tidscope" {
		mode = 0o755 // Not only of one user.
	}
	if err := os.Mkdir(folder, mode); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	status, err := os.Lstat(folder)
	if err != nil {
		return err
	}
	if !status.IsDir() {
		return fmt.Errorf("%s: not a folder", folder)
	}
	if uid := owner(folder); uid != 0 && uid != os.Geteuid() {
		return fmt.Errorf("%s: belongs to another user, %d", folder, uid)
	}
	if status.Mode().Perm()&0o022 != 0 && status.Mode()&os.ModeSticky == 0 {
		return fmt.Errorf("%s: others may write to it", folder)
	}
	return nil
}

// owner returns the owner of a file without following links, or -1 if there is no file.
func owner(path string) int {
	var status syscall.Stat_t
	if syscall.Lstat(path, &status) != nil {
		return -1
	}
	return int(status.Uid)
}

// bind listens at path with mode 0600. The socket is renamed into place when it is ready, so that
// other users can never connect. The stale socket of an ended process with this ID is replaced.
func bind(path string) (*net.UnixListener, error) {
	unnamed := path + ".new"
	if err := os.Remove(unnamed); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: unnamed, Net: "unix"})
	if err != nil {
		return nil, err
	}
	listener.SetUnlinkOnClose(false)
	if err = os.Chmod(unnamed, 0o600); err == nil {
		err = os.Rename(unnamed, path)
	}
	if err != nil {
		listener.Close()
		os.Remove(unnamed)
		return nil, err
	}
	return listener, nil
}

// peerUID returns the user of the peer process, as recorded by the kernel at connect(2).
func peerUID(connection *net.UnixConn) (uint32, error) {
	raw, err := connection.SyscallConn()
	if err != nil {
		return 0, err
	}
	var peer *syscall.Ucred
	var failed error
	err = raw.Control(func(descriptor uintptr) {
		peer, failed = syscall.GetsockoptUcred(int(descriptor), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	})
	if err = errors.Join(err, failed); err != nil {
		return 0, err
	}
	return peer.Uid, nil
}

var socketName = regexp.MustCompile(`^([1-9][0-9]{0,9})\.sock$`)

// mostSwept is the maximum number of directory entries checked per cleanup.
const mostSwept = 256

// sweep removes this user's stale sockets, which killed programs leave behind. A process ID may
// belong to another namespace, so a connection attempt decides. It does not disturb a listening
// program.
func sweep(folder string) {
	opened, err := os.Open(folder)
	if err != nil {
		return
	}
	names, _ := opened.Readdirnames(mostSwept)
	opened.Close()
	for _, name := range names {
		match := socketName.FindStringSubmatch(name)
		if match == nil {
			continue
		}
		if _, err := os.Stat("/proc/" + match[1]); err == nil {
			continue
		}
		removeIfStale(filepath.Join(folder, name))
	}
}

func removeIfStale(path string) {
	found, err := os.Lstat(path)
	if err != nil || found.Mode()&os.ModeSocket == 0 || owner(path) != os.Geteuid() {
		return
	}
	connection, err := net.DialTimeout("unix", path, time.Second)
	if err == nil {
		connection.Close()
		return
	}
	// A new program may have reused the name.
	now, gone := os.Lstat(path)
	if errors.Is(err, syscall.ECONNREFUSED) && gone == nil && os.SameFile(found, now) {
		os.Remove(path)
	}
}

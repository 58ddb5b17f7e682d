package tidscope

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"syscall"
	"time"
)

var socketName = regexp.MustCompile(`^([1-9][0-9]{0,9})\.sock$`)

// mostSwept is how many files of a folder are looked at.
const mostSwept = 256

// sweep removes this user's sockets at which nobody listens any more: a signal such as SIGTERM gives
// a program no time to remove its own. A process id may be of another namespace, so that it is asked
// whether somebody listens; programs that are there are not disturbed by that.
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
	// A program may have taken the name meanwhile.
	now, gone := os.Lstat(path)
	if errors.Is(err, syscall.ECONNREFUSED) && gone == nil && os.SameFile(found, now) {
		os.Remove(path)
	}
}

package tidscope

import (
	"bufio"
	"errors"
	"net"
	"os"
	"sync"
	"time"
)

const (
	longestLine = 4096
	mostClients = 8
	// Maximum lines queued for a client; a slower client is disconnected.
	waitingLines = 16
	writeTime    = time.Second
)

// A server answers clients, each in its own goroutine.
type server struct {
	listener *net.UnixListener
	lease    *lease
	start    time.Time
	uid      uint32

	mutex   sync.Mutex
	clients map[*client]struct{}
	closing bool
	running sync.WaitGroup
}

type client struct {
	connection *net.UnixConn
	out        chan []byte
}

func newServer(listener *net.UnixListener, held *lease) *server {
	s := &server{
		listener: listener,
		lease:    held,
		start:    time.Now(),
		uid:      uint32(os.Geteuid()),
		clients:  map[*client]struct{}{},
	}
	s.running.Add(1)
	go s.accept()
	return s
}

// close ends all connections and waits for their goroutines.
func (s *server) close() error {
	s.mutex.Lock()
	s.closing = true
	err := s.listener.Close()
	for c := range s.clients {
		c.connection.Close()
	}
	s.mutex.Unlock()
	s.running.Wait()
	return err
}

// notify sends a line to all clients, without waiting for any.
func (s *server) notify(text string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for c := range s.clients {
		c.send([]byte(text))
	}
}

func (s *server) accept() {
	defer s.running.Done()
	for {
		connection, err := s.listener.AcceptUnix()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			time.Sleep(50 * time.Millisecond) // No descriptor is left, say: the program needs them.
			continue
		}
		if uid, err := peerUID(connection); err != nil || (uid != 0 && uid != s.uid) {
			connection.Close()
			continue
		}
		s.admit(&client{connection, make(chan []byte, waitingLines)})
	}
}

func (s *server) admit(c *client) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.closing {
		c.connection.Close()
		return
	}
	if len(s.clients) >= mostClients {
		wrong := fail(codeClients, "there are %d clients already", mostClients)
		c.connection.SetWriteDeadline(time.Now().Add(writeTime))
		c.connection.Write(line(refusal{"2.0", nil, wrong}))
		c.connection.Close()
		return
	}
	s.clients[c] = struct{}{}
	s.running.Add(2)
	go func() {
		defer s.running.Done()
		c.write()
	}()
	go func() {
		defer s.running.Done()
		s.serve(c)
		s.mutex.Lock()
		delete(s.clients, c)
		close(c.out) // Nobody sends any more: notify only knows those in the map.
		s.mutex.Unlock()
		s.lease.forget(c)
	}()
}

// serve answers lines until the client disconnects or sends malformed input.
func (s *server) serve(c *client) {
	lines := bufio.NewReaderSize(c.connection, longestLine)
	for {
		text, err := lines.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			wrong := fail(codeInvalid, "the line is longer than %d bytes", longestLine)
			c.send(line(refusal{"2.0", nil, wrong}))
			return
		}
		if err != nil {
			return
		}
		found, id, wrong := parseCall(text)
		var result any
		if wrong == nil {
			result, wrong = s.answer(c, found)
		}
		if wrong == nil {
			c.send(line(answer{"2.0", *id, result}))
			continue
		}
		c.send(line(refusal{"2.0", id, wrong}))
		if wrong.closes() {
			return
		}
	}
}

// send queues a line; a client with a full queue is disconnected.
func (c *client) send(text []byte) {
	select {
	case c.out <- text:
	default:
		c.connection.Close()
	}
}

// write sends queued lines, and closes the connection at the end of the queue.
func (c *client) write() {
	defer c.connection.Close()
	for text := range c.out {
		c.connection.SetWriteDeadline(time.Now().Add(writeTime))
		if _, err := c.connection.Write(text); err != nil {
			c.connection.Close()
		}
	}
}

package predict

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"
)

// Rights of users other than the owner on a model.
const (
	ShareOff   = 0
	ShareRead  = 1
	ShareWrite = 2
)

// Own stands for the user ID of this process.
const Own = 1<<32 - 1

// Batch is how many updates are sent together.
const Batch = 64

// Errors of the service.
var (
	ErrNotPermitted = errors.New("predict: not permitted")
	ErrNotFound     = errors.New("predict: no such model, or it is closed: open it again")
	ErrFull         = errors.New("predict: too many models")
	ErrProtocol     = errors.New("predict: the service says nonsense")
	ErrFeatures     = errors.New("predict: want 1 to 16 features")
)

const (
	systemSocket = "/run/tidscope-predictd/socket"
	version      = 1
	kindOpen     = 1
	kindUpdate   = 2
	kindReset    = 3
	weightsAt    = 4096
	modelBytes   = weightsAt + Features*Entries
	getSeals     = 1034
	seals        = 1 | 2 | 4 | 16 // seal, shrink, grow, future write
	patience     = time.Second
	largestReply = 64
)

// Options of Open. Sharing, Threshold and Limit are those of a model that is made; of Threshold
// and Limit the default ones if Limit is 0.
type Options struct {
	Socket    string // as TIDSCOPE_PREDICTD in the environment says, or the default one, if empty
	Owner     uint32 // a user id; with Create it is that of this process
	Create    bool
	Sharing   uint8
	Threshold uint16
	Limit     uint8
}

// Model is an open model. Predict may be called by any number of goroutines at any time until
// Close, as may the other methods, which wait for each other.
type Model struct {
	memory  []byte
	weights []byte

	mutex   sync.Mutex
	link    int
	handle  uint32
	waiting int
	packet  []byte
	lost    uint64
}

// Open opens a model of the service.
func Open(name string, options Options) (*Model, error) {
	path := options.Socket
	if path == "" {
		path = os.Getenv("TIDSCOPE_PREDICTD")
	}
	if path == "" {
		path = systemSocket
	}
	link, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_SEQPACKET|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	model := &Model{link: link}
	limit := syscall.NsecToTimeval(int64(patience))
	for _, option := range []int{syscall.SO_RCVTIMEO, syscall.SO_SNDTIMEO} {
		if err := syscall.SetsockoptTimeval(link, syscall.SOL_SOCKET, option, &limit); err != nil {
			model.disconnect()
			return nil, err
		}
	}
	if err := syscall.Connect(link, &syscall.SockaddrUnix{Name: path}); err != nil {
		model.disconnect()
		return nil, fmt.Errorf("predict: no prediction service at %s: %w", path, err)
	}
	if err := model.open(name, options); err != nil {
		model.disconnect()
		return nil, err
	}
	return model, nil
}

func (model *Model) open(name string, options Options) error {
	if options.Limit == 0 {
		options.Threshold, options.Limit = 8, 31
	}
	owner, create := options.Owner, byte(0)
	if options.Create {
		owner, create = Own, 1
	}
	packet := head(kindOpen)
	packet = binary.LittleEndian.AppendUint32(packet, owner)
	packet = append(packet, create, options.Sharing)
	packet = binary.LittleEndian.AppendUint16(packet, options.Threshold)
	packet = append(packet, options.Limit, byte(min8(len(name))))
	body, file, err := model.ask(append(packet, name...))
	if err != nil {
		return err
	}
	if file < 0 {
		return ErrProtocol
	}
	defer syscall.Close(file)
	if len(body) != 4 {
		return ErrProtocol
	}
	model.handle = binary.LittleEndian.Uint32(body)
	return model.mapMemory(file)
}

// mapMemory maps the memory of a model, if it is sealed against truncation.
func (model *Model) mapMemory(file int) error {
	held, _, number := syscall.Syscall(syscall.SYS_FCNTL, uintptr(file), getSeals, 0)
	var facts syscall.Stat_t
	if number != 0 || held&seals != seals {
		return ErrProtocol
	}
	if syscall.Fstat(file, &facts) != nil || facts.Size != modelBytes {
		return ErrProtocol
	}
	memory, err := syscall.Mmap(file, 0, modelBytes, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return err
	}
	shape := []uint32{version, Features, Entries, weightsAt}
	fits := string(memory[:8]) == "TIDSPRED"
	for i, wanted := range shape {
		fits = fits && binary.LittleEndian.Uint32(memory[8+4*i:]) == wanted
	}
	if !fits {
		syscall.Munmap(memory)
		return ErrProtocol
	}
	model.memory, model.weights = memory, memory[weightsAt:]
	return nil
}

// Predict returns the sum of the weights: above 0 yes, below 0 no, 0 undecided. No system call.
func (model *Model) Predict(features ...int64) int {
	return Sum(model.weights, features)
}

// Closed reports whether the model is no longer written, so that it has to be opened again.
func (model *Model) Closed() bool {
	return binary.LittleEndian.Uint64(model.memory[32:]) != 0
}

// Lost returns the number of updates that the service did not accept.
func (model *Model) Lost() uint64 {
	model.mutex.Lock()
	defer model.mutex.Unlock()
	return model.lost
}

// Update queues an answer for learning; it takes effect at the latest with Flush.
func (model *Model) Update(answer bool, features ...int64) error {
	if len(features) < 1 || len(features) > Features {
		return ErrFeatures
	}
	model.mutex.Lock()
	defer model.mutex.Unlock()
	direction := int8(-1)
	if answer {
		direction = 1
	}
	model.packet = append(model.packet, byte(direction), byte(len(features)))
	model.packet = appendFeatures(model.packet, features)
	model.waiting++
	if model.waiting < Batch {
		return nil
	}
	return model.flush()
}

// Flush sends queued updates; when it returns without an error, the weights have changed.
func (model *Model) Flush() error {
	model.mutex.Lock()
	defer model.mutex.Unlock()
	return model.flush()
}

func (model *Model) flush() error {
	if model.waiting == 0 {
		return nil
	}
	packet := binary.LittleEndian.AppendUint32(head(kindUpdate), model.handle)
	packet = binary.LittleEndian.AppendUint16(packet, uint16(model.waiting))
	_, _, err := model.ask(append(packet, model.packet...))
	if err != nil {
		model.lost += uint64(model.waiting)
	}
	model.waiting, model.packet = 0, model.packet[:0]
	return err
}

// Reset resets the weights of these features; without features all weights (owner only).
func (model *Model) Reset(features ...int64) error {
	if len(features) > Features {
		return ErrFeatures
	}
	model.mutex.Lock()
	defer model.mutex.Unlock()
	everything := byte(0)
	if len(features) == 0 {
		everything = 1
	}
	packet := binary.LittleEndian.AppendUint32(head(kindReset), model.handle)
	packet = append(packet, everything, byte(len(features)))
	model.waiting, model.packet = 0, model.packet[:0]
	_, _, err := model.ask(appendFeatures(packet, features))
	return err
}

// Close sends queued updates if possible, and disconnects. No method may be called afterwards.
func (model *Model) Close() {
	model.mutex.Lock()
	defer model.mutex.Unlock()
	_ = model.flush()
	model.disconnect()
	syscall.Munmap(model.memory)
}

// ask sends a packet: the body of the reply, and the descriptor beside it, or -1.
func (model *Model) ask(packet []byte) ([]byte, int, error) {
	if model.link < 0 {
		return nil, -1, syscall.ENOTCONN
	}
	reply, control := make([]byte, largestReply), make([]byte, syscall.CmsgSpace(4))
	got, more := 0, 0
	err := retried(func() error {
		return syscall.Sendto(model.link, packet, syscall.MSG_NOSIGNAL, nil)
	})
	if err == nil {
		err = retried(func() (failed error) {
			flags := syscall.MSG_CMSG_CLOEXEC
			got, more, _, _, failed = syscall.Recvmsg(model.link, reply, control, flags)
			return failed
		})
	}
	if err != nil || got < 4 {
		// A late reply would be taken for the reply to the next request.
		model.disconnect()
		if err == nil {
			err = syscall.ECONNRESET
		}
		return nil, -1, err
	}
	file := descriptor(control[:more])
	err = ErrProtocol
	if binary.LittleEndian.Uint16(reply) == version {
		switch binary.LittleEndian.Uint16(reply[2:]) {
		case 0:
			return reply[4:got], file, nil
		case 1:
			err = syscall.EINVAL
		case 2:
			err = ErrNotPermitted
		case 3:
			err = ErrNotFound
		case 4:
			err = ErrFull
		}
	}
	if file >= 0 {
		syscall.Close(file)
	}
	return nil, -1, err
}

func (model *Model) disconnect() {
	if model.link >= 0 {
		syscall.Close(model.link)
	}
	model.link = -1
}

func descriptor(control []byte) int {
	messages, err := syscall.ParseSocketControlMessage(control)
	if err != nil || len(messages) != 1 {
		return -1
	}
	files, err := syscall.ParseUnixRights(&messages[0])
	if err != nil || len(files) != 1 {
		return -1
	}
	return files[0]
}

func retried(call func() error) error {
	for {
		if err := call(); err != syscall.EINTR {
			return err
		}
	}
}

func head(kind uint16) []byte {
	return []byte{version, 0, byte(kind), 0}
}

func appendFeatures(packet []byte, features []int64) []byte {
	for _, feature := range features {
		packet = binary.LittleEndian.AppendUint64(packet, uint64(feature))
	}
	return packet
}

func min8(length int) int {
	if length > 255 {
		return 255
	}
	return length
}

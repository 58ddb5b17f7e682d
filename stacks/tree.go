package main

// Bounds: frames and nodes that a worker tells apart. Beyond them stacks end early.
const (
	maxFrames = 60000
	maxNodes  = 60000
)

// tree keeps stacks as paths from the outermost frame on, and remembers what was not sent yet.
type tree struct {
	frames    map[frame]uint32
	nodes     map[node]uint32
	newFrames []frame
	newNodes  []node
	// cut counts stacks that were cut short by a bound.
	cut uint64
}

func newTree() *tree {
	return &tree{frames: map[frame]uint32{}, nodes: map[node]uint32{}}
}

// add gives the node of a stack, innermost frame first; 0 for an empty one.
func (t *tree) add(stack []frame) uint32 {
	var at uint32
	for i := len(stack) - 1; i >= 0; i-- {
		frame, ok := number(t.frames, stack[i], maxFrames, &t.newFrames)
		if ok {
			var next uint32
			next, ok = number(t.nodes, node{Parent: at, Frame: frame}, maxNodes, &t.newNodes)
			if ok {
				at = next
				continue
			}
		}
		t.cut++
		break
	}
	return at
}

// take gives frames and nodes that are new since the last call, and the numbers of the first ones.
func (t *tree) take() (firstFrame uint32, frames []frame, firstNode uint32, nodes []node) {
	frames, nodes = t.newFrames, t.newNodes
	t.newFrames, t.newNodes = nil, nil
	firstFrame = uint32(len(t.frames)-len(frames)) + 1
	firstNode = uint32(len(t.nodes)-len(nodes)) + 1
	return firstFrame, frames, firstNode, nodes
}

func number[K comparable](known map[K]uint32, key K, most int, added *[]K) (uint32, bool) {
	if found, ok := known[key]; ok {
		return found, true
	}
	if len(known) >= most {
		return 0, false
	}
	made := uint32(len(known)) + 1
	known[key] = made
	*added = append(*added, key)
	return made, true
}

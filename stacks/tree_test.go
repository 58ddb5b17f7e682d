package main

import (
	"fmt"
	"slices"
	"testing"
)

// stack is the innermost frame first.
func stack(functions ...string) []frame {
	var made []frame
	for _, one := range functions {
		made = append(made, frame{Kind: "native", Function: one})
	}
	return made
}

// path is a node's functions, the outermost first, by what was taken.
func path(frames []frame, nodes []node, at uint32) []string {
	var functions []string
	for ; at != 0; at = nodes[at-1].Parent {
		functions = append([]string{frames[nodes[at-1].Frame-1].Function}, functions...)
	}
	return functions
}

func TestStacksShareTheirOuterFrames(t *testing.T) {
	made := newTree()
	one, two := made.add(stack("c", "b", "a")), made.add(stack("d", "b", "a"))
	if made.add(stack("c", "b", "a")) != one || made.add(nil) != 0 {
		t.Fatal("a stack has another node")
	}
	firstFrame, frames, firstNode, nodes := made.take()
	if firstFrame != 1 || firstNode != 1 || len(frames) != 4 || len(nodes) != 4 {
		t.Fatal(firstFrame, frames, firstNode, nodes)
	}
	for at, want := range map[uint32][]string{one: {"a", "b", "c"}, two: {"a", "b", "d"}} {
		if found := path(frames, nodes, at); !slices.Equal(found, want) {
			t.Fatal(found)
		}
	}
}

func TestOnlyWhatIsNewIsTaken(t *testing.T) {
	made := newTree()
	made.add(stack("b", "a"))
	made.take()
	made.add(stack("c", "a"))
	firstFrame, frames, firstNode, nodes := made.take()
	if firstFrame != 3 || firstNode != 3 || len(frames) != 1 || nodes[0] != (node{Parent: 1, Frame: 3}) {
		t.Fatal(firstFrame, frames, firstNode, nodes)
	}
	if firstFrame, frames, _, _ = made.take(); firstFrame != 4 || frames != nil {
		t.Fatal(firstFrame, frames)
	}
}

func TestRecursionIsAPath(t *testing.T) {
	made := newTree()
	at := made.add(stack("a", "a", "a"))
	_, frames, _, nodes := made.take()
	if len(frames) != 1 || !slices.Equal(path(frames, nodes, at), []string{"a", "a", "a"}) {
		t.Fatal(frames, nodes)
	}
}

func TestBeyondTheBoundStacksEndEarlyAndAreCounted(t *testing.T) {
	made := newTree()
	for i := range maxFrames {
		made.add(stack(fmt.Sprint(i), "main"))
	}
	// main and all but one of the others have taken all numbers.
	if made.cut != 1 || made.add(stack("one more", "main")) != made.add(stack("main")) || made.cut != 2 {
		t.Fatal(made.cut)
	}
	if made.add(stack("0", "main")) == made.add(stack("main")) {
		t.Fatal("what is known is cut")
	}
}

package main

import "github.com/cilium/ebpf/asm"

// holders are where a program has its context: registers, and slots of the stack of 8 bytes.
type holders struct {
	registers uint16
	slots     uint64
}

var everywhere = holders{^uint16(0), ^uint64(0)}

// withoutRegisters lets a program of perf events read ones where its context has registers. The
// unwinder takes that for none of a thread in its own code, and looks for those with which the thread
// entered the kernel. Other contexts have no registers.
//
// It returns how many reads these were.
func withoutRegisters(code asm.Instructions) int {
	replaced := 0
	for i, before := range whereContext(code) {
		one := code[i]
		if one.OpCode == asm.LoadMemOp(asm.DWord) && before.has(one.Src) && one.Src != asm.RFP {
			code[i] = asm.Mov.Imm(one.Dst, -1).WithMetadata(one.Metadata)
			replaced++
		}
	}
	return replaced
}

// whereContext gives where the context is before each instruction, on whatever way that is reached.
func whereContext(code asm.Instructions) []holders {
	at := map[asm.RawInstructionOffset]int{}
	offsets := make([]asm.RawInstructionOffset, len(code))
	for iter := code.Iterate(); iter.Next(); {
		at[iter.Offset], offsets[iter.Index] = iter.Index, iter.Offset
	}
	before := make([]holders, len(code))
	for i := range before {
		before[i] = everywhere
	}
	var reach func(i int, here holders)
	waiting := []int{}
	reach = func(i int, here holders) {
		both := holders{before[i].registers & here.registers, before[i].slots & here.slots}
		if both != before[i] {
			before[i] = both
			waiting = append(waiting, i)
		}
	}
	reach(0, holders{registers: 1 << asm.R1})
	for len(waiting) > 0 {
		i := waiting[len(waiting)-1]
		waiting = waiting[:len(waiting)-1]
		one, after := code[i], before[i].after(code[i])
		next := offsets[i] + asm.RawInstructionOffset(one.Size()/asm.InstructionSize)
		jumps := one.OpCode.JumpOp()
		if jumps != asm.InvalidJumpOp && jumps != asm.Call && jumps != asm.Exit {
			distance := int64(one.Offset)
			if one.OpCode.Class() == asm.Jump32Class && jumps == asm.Ja {
				distance = one.Constant
			}
			if to, ok := at[asm.RawInstructionOffset(int64(next)+distance)]; ok {
				reach(to, after)
			}
		}
		if to, ok := at[next]; ok && jumps != asm.Exit && jumps != asm.Ja {
			reach(to, after)
		}
	}
	return before
}

func (h holders) has(register asm.Register) bool { return h.registers>>register&1 != 0 }

// slot is the bit of a slot of the stack, or 0 if that is none.
func slot(offset int16) uint64 {
	if offset >= 0 || offset < -512 || offset%8 != 0 {
		return 0
	}
	return 1 << (-offset/8 - 1)
}

// after is where the context is after an instruction.
func (h holders) after(one asm.Instruction) holders {
	set := func(register asm.Register, is bool) {
		h.registers &^= 1 << register
		if is {
			h.registers |= 1 << register
		}
	}
	switch class := one.OpCode.Class(); {
	case class.IsALU():
		copies := one.OpCode == asm.Mov.Op(asm.RegSource) && one.Offset == 0
		set(one.Dst, copies && h.has(one.Src))
	case class == asm.LdXClass:
		set(one.Dst, one.Src == asm.RFP && h.slots&slot(one.Offset) != 0)
	case class == asm.LdClass:
		set(one.Dst, false)
	case class.IsStore() && one.OpCode.Mode() == asm.AtomicMode:
		set(one.Src, false)
		set(asm.R0, false)
	case class.IsStore() && one.Dst == asm.RFP:
		h.slots &^= slot(one.Offset &^ 7)
		if one.OpCode == asm.StoreMemOp(asm.DWord) && h.has(one.Src) {
			h.slots |= slot(one.Offset)
		}
	case one.OpCode.JumpOp() == asm.Call:
		for register := asm.R0; register <= asm.R5; register++ {
			set(register, false)
		}
	}
	return h
}

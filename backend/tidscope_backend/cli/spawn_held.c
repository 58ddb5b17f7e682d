/* SPDX-License-Identifier: Apache-2.0
 *
 * spawn_held REPORT_FD PROGRAM NAME [ARGUMENT...]
 *
 * Starts PROGRAM as a sibling of this process, stopped before its first instruction.
 *
 * A program that Python forks and executes inherits Python's peak memory: execve(2) carries the
 * high-water mark of the old address space over to the process (exec_mmap, setmax_mm_hiwater_rss),
 * for vfork as well. This program is some pages large, so a process that it forks starts from
 * nearly nothing. CLONE_PARENT makes our parent that process's parent: it can wait for it, and as
 * PTRACE_TRACEME names the parent, trace it.
 *
 * Writes lines to REPORT_FD: "pid PID" once the sibling is there, or "clone ERRNO"; and if the
 * sibling does not become PROGRAM, "ptrace ERRNO" or "exec ERRNO". Both processes then close it.
 * No C library: its start-up code and tables would be most of the memory. `make spawn-held` compiles it.
 */
#include <asm/unistd.h>
#include <linux/fcntl.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <stddef.h>
#include <asm/signal.h>

#if defined(__x86_64__)
static long call(long n, long a, long b, long c, long d, long e)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
			 : "rcx", "r11", "memory");
	return result;
}

__asm__(".global _start\n_start:\n\txor %ebp, %ebp\n\tmov %rsp, %rdi\n\tand $-16, %rsp\n\tcall start\n");
#else
#error "only x86-64 is supported; elsewhere Python forks the command itself"
#endif

/* Writes a line, such as "exec 2". A line is one write: two processes do not mix theirs. */
static void report(int descriptor, const char *what, long number)
{
	char text[32], digits[20], *end = text;
	int count = 0;

	while (*what)
		*end++ = *what++;
	*end++ = ' ';
	do
		digits[count++] = (char)('0' + number % 10);
	while (number /= 10);
	while (count)
		*end++ = digits[--count];
	*end++ = '\n';
	call(__NR_write, descriptor, (long)text, end - text, 0, 0);
}

__attribute__((noreturn, used)) void start(long *stack)
{
	long count = stack[0];
	char **arguments = (char **)(stack + 1);
	char **environment = arguments + count + 1;
	int descriptor = 0;
	long result;

	for (const char *digit = count > 3 ? arguments[1] : ""; *digit; digit++)
		descriptor = descriptor * 10 + (*digit - '0');
	call(__NR_fcntl, descriptor, F_SETFD, FD_CLOEXEC, 0, 0);
	result = call(__NR_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);
	if (result == 0) {
		result = call(__NR_ptrace, PTRACE_TRACEME, 0, 0, 0, 0);
		if (result < 0) {
			report(descriptor, "ptrace", -result);
		} else {
			result = call(__NR_execve, (long)arguments[2], (long)(arguments + 3),
				      (long)environment, 0, 0);
			report(descriptor, "exec", -result);
		}
		call(__NR_exit_group, 127, 0, 0, 0, 0);
	}
	report(descriptor, result < 0 ? "clone" : "pid", result < 0 ? -result : result);
	call(__NR_exit_group, 0, 0, 0, 0, 0);
	__builtin_unreachable();
}

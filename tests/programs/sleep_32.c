/* A 32-bit program that sleeps: its numbers of system calls are others. Compiled without a library. */
struct time {
  int seconds, nanoseconds;
};

void _start(void) {
  struct time time = {1000, 0};
  for (;;) __asm__ volatile("int $0x80" : : "a"(162), "b"(&time), "c"(0) : "memory");
}

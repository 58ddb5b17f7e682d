/* Prints where it is in its own code: in `outer`, into which `middle` and `inner` are inlined. */
#include <stdio.h>

static volatile int sum;

__attribute__((noinline)) void tell_place(const char *name) {
  printf("%s %p\n", name, __builtin_extract_return_addr(__builtin_return_address(0)));
}

static inline __attribute__((always_inline)) void inner(int number) {
  sum += number;
  tell_place("inlined"); /* line 12 */
  sum *= 3;
}

static inline __attribute__((always_inline)) void middle(int number) {
  sum ^= number;
  inner(number + 1); /* line 18 */
  sum += 2;
}

__attribute__((noinline, noclone)) static void outer(int number) {
  middle(number); /* line 23 */
  sum -= number;
}

__attribute__((noinline, noclone)) static void plain(void) {
  tell_place("plain"); /* line 28 */
  sum++;
}

int main(void) {
  outer(5);
  plain();
  puts("ready");
  fflush(stdout);
  return getchar() == EOF ? 0 : sum != 0;
}

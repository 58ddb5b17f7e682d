/* Prints where it is in a member of a class template, into which a lambda is inlined. */
#include <cstdio>
#include <string>

extern "C" __attribute__((noinline)) void tell_place(const char *name) {
  std::printf("%s %p\n", name, __builtin_extract_return_addr(__builtin_return_address(0)));
}

namespace bank {
static volatile int sum;

template <typename Key, int Size> struct Pool {
  __attribute__((noinline)) void take(const Key &key) {
    auto count = [&](int number) __attribute__((always_inline)) {
      sum = sum + number;
      tell_place("template"); /* line 16 */
    };
    count(static_cast<int>(key.size()) + Size); /* line 18 */
    sum = sum * 3;
  }
};
} // namespace bank

int main() {
  bank::Pool<std::string, 7> pool;
  pool.take("key");
  std::puts("ready");
  std::fflush(stdout);
  return std::getchar() == EOF ? 0 : 1;
}

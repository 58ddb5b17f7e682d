// Threads whose time in each function is known: see known_code.py. Built without frame pointers.
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <iostream>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <time.h>
#include <unistd.h>
#include <vector>

namespace shop {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using Nanoseconds = std::chrono::nanoseconds;

std::atomic<Clock::time_point> ends;
bool is_over() { return Clock::now() >= ends.load(); }

std::int64_t cpu_ns() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::int64_t{now.tv_sec} * 1000000000 + now.tv_nsec;
}

class Stopwatch {
public:
  explicit Stopwatch(std::int64_t &into) : into_(into) {}
  ~Stopwatch() { into_ += Nanoseconds(Clock::now() - begin_).count(); }

private:
  std::int64_t &into_;
  Clock::time_point begin_ = Clock::now();
};

enum Code { WAIT_BRIEFLY, WAIT_LONGER, REST_BRIEFLY, REST_LONGER, COMPUTE_SOME, COMPUTE_MORE, CODES };
constexpr const char *NAMES[] = {"wait_briefly", "wait_longer",  "rest_briefly",
                                 "rest_longer",  "compute_some", "compute_more"};

class Activity {
public:
  virtual ~Activity() = default;
  virtual void act() = 0;
  int tid = 0;
};

class Worker final : public Activity {
public:
  std::array<std::int64_t, CODES> ns{};

  [[gnu::noinline]] void act() override {
    std::minstd_rand chance(tid);
    while (!is_over()) {
      for (auto left = 1 + chance() % 15; left; left--) {
        wait_briefly();
        rest_briefly();
      }
      wait_longer();
      rest_longer();
      compute_some<1000000>();
      compute_more<3000000>();
    }
  }

private:
  std::mutex mutex_;
  std::condition_variable never_;

  void wait_for(Nanoseconds time) {
    std::unique_lock lock(mutex_);
    never_.wait_for(lock, time, [] { return false; });
  }
  [[gnu::noinline]] void wait_briefly() {
    Stopwatch watch(ns[WAIT_BRIEFLY]);
    wait_for(400us);
  }
  [[gnu::noinline]] void wait_longer() {
    Stopwatch watch(ns[WAIT_LONGER]);
    wait_for(4ms);
  }
  [[gnu::noinline]] void rest_briefly() {
    Stopwatch watch(ns[REST_BRIEFLY]);
    std::this_thread::sleep_for(400us);
  }
  [[gnu::noinline]] void rest_longer() {
    Stopwatch watch(ns[REST_LONGER]);
    std::this_thread::sleep_for(4ms);
  }
  template <int TIME> [[gnu::noinline]] void compute_some() {
    Stopwatch watch(ns[COMPUTE_SOME]);
    for (auto until = cpu_ns() + TIME; cpu_ns() < until;) {}
  }
  template <int TIME> [[gnu::noinline]] void compute_more() {
    Stopwatch watch(ns[COMPUTE_MORE]);
    for (auto until = cpu_ns() + TIME; cpu_ns() < until;) {}
  }
};

// As std::binary_semaphore, which spins before it waits.
class Signal {
public:
  void release() {
    {
      std::lock_guard lock(mutex_);
      is_set_ = true;
    }
    changed_.notify_one();
  }
  void acquire() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return is_set_; });
    is_set_ = false;
  }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_set_ = false;
};

struct Turns {
  Signal released, asked[2];
  std::atomic<bool> over{false};
  int releaser = 0;
};

class Waiter final : public Activity {
public:
  explicit Waiter(Turns &turns) : turns_(turns) {}
  std::int64_t ns[2]{};

  void act() override {
    for (int which = 0; !is_over(); which = !which) {
      turns_.asked[which].release();
      await_release();
    }
  }

private:
  Turns &turns_;
  [[gnu::noinline]] void await_release() {
    std::int64_t waited = 0;
    {
      Stopwatch watch(waited);
      turns_.released.acquire();
    }
    ns[turns_.releaser] += waited;
  }
};

class Releaser final : public Activity {
public:
  Releaser(Turns &turns, int which) : turns_(turns), which_(which) {}

  void act() override {
    for (;;) {
      turns_.asked[which_].acquire();
      if (turns_.over) return;
      std::this_thread::sleep_for(which_ ? 4ms : 1ms);
      which_ ? post_late() : post_soon();
    }
  }

private:
  Turns &turns_;
  int which_;
  [[gnu::noinline]] void post_soon() {
    turns_.releaser = 0;
    turns_.released.release();
    asm volatile("" ::: "memory");
  }
  [[gnu::noinline]] void post_late() {
    turns_.releaser = 1;
    turns_.released.release();
    asm volatile("" ::: "memory");
  }
};

std::jthread started(Activity &one) {
  return std::jthread([&one] {
    one.tid = gettid();
    one.act();
  });
}

void run(double seconds) {
  Turns turns;
  std::vector<std::unique_ptr<Worker>> workers;
  Waiter waiter(turns);
  Releaser soon(turns, 0), late(turns, 1);
  ends = Clock::now() + std::chrono::duration_cast<Nanoseconds>(std::chrono::duration<double>(seconds));
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 3; i++) workers.push_back(std::make_unique<Worker>());
    for (auto &worker : workers) threads.push_back(started(*worker));
    threads.push_back(started(soon));
    threads.push_back(started(late));
    started(waiter).join();
    turns.over = true;
    for (auto &asked : turns.asked) asked.release();
  }
  std::string text = "{\"workers\": {", comma;
  for (auto &worker : workers) {
    text += comma + "\"" + std::to_string(worker->tid) + "\": {";
    for (int code = 0; code < CODES; code++)
      text += (code ? ", \"" : "\"") + std::string(NAMES[code]) + "\": " + std::to_string(worker->ns[code]);
    text += "}";
    comma = ", ";
  }
  auto two = [](std::int64_t one, std::int64_t other) {
    return "{\"post_soon\": " + std::to_string(one) + ", \"post_late\": " + std::to_string(other) + "}";
  };
  std::cout << text << "}, \"waiter\": " << waiter.tid << ", \"released_ns\": " << two(waiter.ns[0], waiter.ns[1])
            << ", \"releasers\": " << two(soon.tid, late.tid) << "}" << std::endl;
}

} // namespace shop

int main() {
  std::cout << "ready" << std::endl;
  for (double seconds; std::cin >> seconds;) shop::run(seconds);
}

// A pool of threads that serves the requests of a trace, again and again.
//
// Each request computes for its time, in a loop that was calibrated, and sleeps for a multiple of it.
// Arguments: trace, size, upper, free workload, queue, load.
#define TIDSCOPE_AGENT_IMPLEMENTATION
#include "tidscope_agent.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <fstream>
#include <iostream>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using Micros = std::chrono::duration<double, std::micro>;

constexpr double kLoops = 1e6;
constexpr int kTries = 25;
volatile double sink;

// A line of the trace, in µs; the start counts from the request before.
struct Request {
  double start, execution;
};

struct Job {
  Request request;
  tidscope_job counted;
};

std::vector<Request> read(const std::string &path) {
  std::ifstream file(path);
  std::vector<Request> trace;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    double number, application;
    Request request;
    if (line.empty() || line[0] == '#') continue;
    if (!(words >> number >> application >> request.start >> request.execution))
      throw std::runtime_error(path + ": " + line + " is no request");
    trace.push_back(request);
  }
  if (trace.empty()) throw std::runtime_error(path + " has no requests");
  return trace;
}

void spin(double loops) {
  double value = 1;
  for (double i = 0; i < loops; i++) value = value * 1.0000001 + i;
  sink = value;
}

// Loops per microsecond: the maximum of several tries, since disturbances only slow a try.
double calibrate() {
  double most = 0;
  for (int i = 0; i < kTries; i++) {
    auto began = Clock::now();
    spin(kLoops);
    most = std::max(most, kLoops / Micros(Clock::now() - began).count());
  }
  return most;
}

class Service {
 public:
  Service(tidscope_pool *pool, double free_workload, size_t places)
      : pool_(pool), free_(free_workload), places_(places), loops_(calibrate()) {}

  // Queue the requests at their times; a full queue pauses the trace.
  void submit(const std::vector<Request> &trace, double load) {
    for (auto due = Clock::now();;) {
      for (const Request &one : trace) {
        due += std::chrono::duration_cast<Clock::duration>(Micros(one.start / load));
        std::this_thread::sleep_until(due);
        std::unique_lock<std::mutex> lock(mutex_);
        if (unfinished_ == places_) {
          changed_.wait(lock, [this] { return unfinished_ < places_; });
          due = Clock::now();
        }
        unfinished_++;
        jobs_.push_back({one, tidscope_submit(pool_)});
        queued_.notify_one();
      }
    }
  }

  // Serve requests; the places of the pool bound how many threads do at once.
  void work() {
    for (;;) {
      std::unique_lock<std::mutex> lock(mutex_);
      queued_.wait(lock, [this] { return !jobs_.empty(); });
      Job job = jobs_.front();
      jobs_.pop_front();
      lock.unlock();
      {
        tidscope::Job begun(pool_, job.counted);
        double waited = Micros(Clock::now().time_since_epoch()).count() - job.counted.queued_ns / 1e3;
        spin(loops_ * job.request.execution);
        std::this_thread::sleep_for(Micros(job.request.execution * free_));
        lock.lock();
        ops_++;
        waited_us_ += waited;
      }
      unfinished_--;
      changed_.notify_one();
    }
  }

  // Answer the lines by which an experiment begins and ends a measurement.
  void answer() {
    std::cout << "{\"ready\": \"\"}" << std::endl;
    for (std::string line; std::getline(std::cin, line);) {
      std::lock_guard<std::mutex> lock(mutex_);
      if (line == "begin") {
        ops_ = 0;
        waited_us_ = 0;
        began_ = Clock::now();
        std::cout << "{}" << std::endl;
      } else if (line == "end") {
        double elapsed_s = std::chrono::duration<double>(Clock::now() - began_).count();
        std::cout << "{\"ops\": " << ops_ << ", \"elapsed_s\": " << elapsed_s;
        if (ops_) std::cout << ", \"wait_us\": " << waited_us_ / ops_;
        std::cout << "}" << std::endl;
      } else {
        throw std::runtime_error(line + " is neither begin nor end");
      }
    }
  }

 private:
  tidscope_pool *pool_;
  double free_;
  size_t places_;
  double loops_;
  std::mutex mutex_;
  std::condition_variable queued_, changed_;
  std::deque<Job> jobs_;
  size_t unfinished_ = 0;
  long ops_ = 0;
  double waited_us_ = 0;
  Clock::time_point began_ = Clock::now();
};

void serve(char **arguments) {
  const std::vector<Request> trace = read(arguments[0]);
  const unsigned size = static_cast<unsigned>(std::stoul(arguments[1]));
  const unsigned upper = std::max(size, static_cast<unsigned>(std::stoul(arguments[2])));
  tidscope_pool *pool = tidscope_pool_new("requests", size);
  if (tidscope_start(pool, 1, upper) != 0) throw std::runtime_error(tidscope_error());
  static Service service(pool, std::stod(arguments[3]), size + std::stoul(arguments[4]));
  for (unsigned i = 0; i < upper; i++) std::thread(&Service::work, &service).detach();
  const double load = std::stod(arguments[5]);
  std::thread([&trace, load] { service.submit(trace, load); }).detach();
  service.answer();
  // Waiting would finish all queued jobs first.
  tidscope_close();
  std::quick_exit(0);
}

}  // namespace

int main(int count, char **arguments) {
  if (count != 7) {
    std::cerr << "usage: pool_trace TRACE SIZE UPPER FREE_WORKLOAD QUEUE LOAD\n";
    return 1;
  }
  try {
    serve(arguments + 1);
  } catch (const std::exception &error) {
    std::cerr << error.what() << "\n";
    tidscope_close();
    std::quick_exit(1);
  }
}

// A program that counts and resizes its threads itself, with the C agent; each line gets an answer.
//
// ops N      count N operations                    -> ops N
// size       size that it was given last           -> size M
// throw      leave a job by an exception           -> throw
// fork       let a child start an agent of its own -> fork PID PATH
// wait       wait for the end of that child        -> wait STATUS
#define TIDSCOPE_AGENT_IMPLEMENTATION
#include "tidscope_agent.h"

#include <sys/wait.h>

#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>

namespace {

unsigned size_of(void *size) {
  return __atomic_load_n(static_cast<unsigned *>(size), __ATOMIC_SEQ_CST);
}

void resize(void *size, unsigned wanted) {
  __atomic_store_n(static_cast<unsigned *>(size), wanted, __ATOMIC_SEQ_CST);
}

// Become a program with an agent until its input ends.
[[noreturn]] void live_apart(tidscope_pool *pool, int input, int output) {
  std::string path = tidscope_start(pool, 1, 8) == 0 ? tidscope_path() : tidscope_error();
  char letter;
  bool good = write(output, path.data(), path.size()) > 0 && close(output) == 0;
  while (read(input, &letter, 1) > 0) continue;
  std::exit(good ? 0 : 1);
}

}  // namespace

int main() {
  unsigned size = 3;
  pid_t child = 0;
  int to_child[2] = {-1, -1};
  tidscope_pool *pool = tidscope_pool_own("own", size_of, resize, &size, "threads = {size}");
  if (tidscope_start(pool, 1, 8) != 0) {
    std::cout << "failed: " << tidscope_error() << std::endl;
    return 1;
  }
  std::cout << "ready " << tidscope_path() << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string word;
    unsigned number = 0;
    words >> word >> number;
    if (word == "ops") {
      tidscope_ops_add(number);
      std::cout << line << std::endl;
    } else if (word == "size") {
      std::cout << "size " << size_of(&size) << std::endl;
    } else if (word == "throw") {
      try {
        tidscope::Job job(pool);
        throw std::runtime_error("on purpose");
      } catch (const std::runtime_error &) {
        std::cout << "throw" << std::endl;
      }
    } else if (word == "fork") {
      int from_child[2];
      char path[256] = "";
      if (pipe(to_child) != 0 || pipe(from_child) != 0) return 1;
      child = fork();
      if (child == 0) {
        close(to_child[1]);
        live_apart(pool, to_child[0], from_child[1]);
      }
      close(from_child[1]);
      if (read(from_child[0], path, sizeof path - 1) <= 0) return 1;
      std::cout << "fork " << child << " " << path << std::endl;
    } else if (word == "wait") {
      int status = -1;
      close(to_child[1]);
      waitpid(child, &status, 0);
      std::cout << "wait " << status << std::endl;
    }
  }
}

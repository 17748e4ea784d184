// spawn_bench: the time to start a program from a process of a given size, as the executor of a
// large job does for `command`, beside fork and exec from such a process, in the same run, in
// turns.
//
//   spawn_bench [--bytes N] [--runs N]   prints a line of JSON: medians in ms
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "common/base/child_process.h"

namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kProgram = "/bin/true";

double MillisecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// The time until the program runs.
double TimeOfOurs() {
  const auto begin = Clock::now();
  auto child = galley::ChildProcess::Start({.argv = {kProgram}});
  const double took = MillisecondsSince(begin);
  if (!child.ok() || !child->Wait().ok()) std::abort();
  return took;
}

double TimeOfFork() {
  const auto begin = Clock::now();
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) std::abort();
  const pid_t pid = ::fork();
  if (pid < 0) std::abort();
  if (pid == 0) {
    ::execl(kProgram, kProgram, static_cast<char*>(nullptr));
    ::_exit(127);
  }
  ::close(ends[1]);
  char byte = 0;
  if (::read(ends[0], &byte, 1) != 0) std::abort();
  const double took = MillisecondsSince(begin);
  ::close(ends[0]);
  ::waitpid(pid, nullptr, 0);
  return took;
}

}  // namespace

int main(int argc, char** argv) {
  uint64_t bytes = uint64_t{1} << 30;
  size_t runs = 51;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::string_view(argv[i]) == "--bytes") bytes = std::strtoull(argv[i + 1], nullptr, 10);
    if (std::string_view(argv[i]) == "--runs") runs = std::strtoull(argv[i + 1], nullptr, 10);
  }
  const std::vector<char> held(bytes, 1);  // written, so that the memory is there
  std::vector<double> ours, forks;
  for (size_t i = 0; i < std::max<size_t>(runs, 1); ++i) {
    ours.push_back(TimeOfOurs());
    forks.push_back(TimeOfFork());
  }
  std::printf("{\"bytes\": %zu, \"runs\": %zu, \"start_ms\": %.3f, \"fork_ms\": %.3f}\n",
              held.size(), ours.size(), Median(ours), Median(forks));
  return 0;
}

#include "director/cli/limits.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <thread>
#include <utility>

#include "common/base/descriptor_limit.h"
#include "common/base/errors.h"
#include "common/base/folder_names.h"
#include "fmt/format.h"

namespace galley::cli {
namespace {

constexpr uint64_t kMiB = 1 << 20;

// A RocksDB (the store's index, the journal) keeps this many files open (max_open_files).
constexpr uint64_t kDatabaseFiles = 256;
// Standard streams, locks, sockets, segments, epolls of gRPC. Measured: a cook of the sample with
// two workers has 41 open at most, its worker 21, an executor 11; an idle server 26.
constexpr uint64_t kOtherFiles = 64;
constexpr uint64_t kFilesPerWorker = 8;
constexpr uint64_t kConnectionsMin = 32;

// Measured with two processors, as VmPeak: a cook 774 MiB (24 threads, whose stacks are 8 MiB each;
// the cook fails below 900), `store serve` 358 MiB, a worker 363 MiB, an executor 267 MiB.
constexpr uint64_t kCookBytes = 1280 * kMiB, kServeBytes = 1024 * kMiB, kStoreBytes = 512 * kMiB;
constexpr uint64_t kBytesPerProcessor = 32 * kMiB;
// Measured in the same way: 24 threads of the cook, 13 of its worker, 23 of the server.
constexpr uint64_t kCookThreads = 48, kServeThreads = 32, kThreadsPerProcessor = 8;

// Above this limit the threads of a user are not counted, which takes a while: nobody reaches the
// limit by accident.
constexpr rlim_t kThreadsLookedAt = 16'384;

std::string AsText(rlim_t limit) {
  return limit == RLIM_INFINITY ? "unlimited" : fmt::format("{}", limit);
}

std::string AsMiB(rlim_t limit) {
  return limit == RLIM_INFINITY ? "unlimited" : fmt::format("{} MiB", limit / kMiB);
}

rlimit LimitOf(__rlimit_resource_t resource) {
  rlimit limit{RLIM_INFINITY, RLIM_INFINITY};
  ::getrlimit(resource, &limit);
  return limit;
}

// Counts the threads of all visible processes of our user.
uint64_t ThreadsOfUser() {
  uint64_t threads = 0;
  for (const std::string& process : NamesIn("/proc")) {
    const std::string folder = "/proc/" + process;
    struct stat s {};
    if (!std::isdigit(static_cast<unsigned char>(process[0])) || ::stat(folder.c_str(), &s) != 0 ||
        s.st_uid != ::geteuid())
      continue;
    // The folder has a folder for each thread.
    if (::stat((folder + "/task").c_str(), &s) == 0 && s.st_nlink > 2) threads += s.st_nlink - 2;
  }
  return threads;
}

// nullopt: no limit counts. Root has none.
std::optional<uint64_t> ThreadsLeft() {
  const rlim_t limit = LimitOf(RLIMIT_NPROC).rlim_cur;
  if (::geteuid() == 0 || limit > kThreadsLookedAt) return std::nullopt;
  return limit - std::min<uint64_t>(limit, ThreadsOfUser());
}

}  // namespace

LimitNeeds NeedsOf(std::string_view command, uint32_t workers) {
  const uint64_t processors = std::max(1u, std::thread::hardware_concurrency());
  if (command == "cook" || command == "serve") {
    const uint64_t count = workers != 0 ? workers : processors;
    return {.descriptors = 2 * kDatabaseFiles + kOtherFiles + kFilesPerWorker * count,
            .address_space_bytes = kCookBytes + kBytesPerProcessor * processors,
            .threads = kCookThreads + kThreadsPerProcessor * processors + 2 * count};
  }
  if (command == "store serve") {
    return {.descriptors = kDatabaseFiles + kOtherFiles + 2 * kConnectionsMin,
            .address_space_bytes = kServeBytes + kBytesPerProcessor * processors,
            .threads = kServeThreads + kThreadsPerProcessor * processors};
  }
  // Commands that say what is wrong, or open no store, have no needs.
  if (command == "doctor" || command == "init" || command == "ls") return {};
  return {.descriptors = kDatabaseFiles + kOtherFiles, .address_space_bytes = kStoreBytes};
}

absl::Status CheckLimits(std::string_view command, const LimitNeeds& needs) {
  const DescriptorLimit files = CurrentDescriptorLimit();
  if (files.soft < needs.descriptors) {
    return ResourceExhaustedError(
        "this process may have {} open files, and `galley {}` needs {}: raise the hard limit "
        "(ulimit -Hn, LimitNOFILE= of a service, --ulimit nofile= of a container)",
        files.soft, command, needs.descriptors);
  }
  const rlimit space = LimitOf(RLIMIT_AS);
  if (space.rlim_cur < needs.address_space_bytes) {
    return ResourceExhaustedError(
        "this process may have {} of address space, and `galley {}` needs {}: raise the limit "
        "(ulimit -v unlimited), or limit memory by a control group, which counts what is used",
        AsMiB(space.rlim_cur), command, AsMiB(needs.address_space_bytes));
  }
  if (needs.threads == 0) return absl::OkStatus();
  const std::optional<uint64_t> threads = ThreadsLeft();
  if (!threads.has_value() || *threads >= needs.threads) return absl::OkStatus();
  return ResourceExhaustedError(
      "this user may start {} more processes and threads (of {}), and `galley {}` needs {}: raise "
      "the limit (ulimit -u), or end others",
      *threads, LimitOf(RLIMIT_NPROC).rlim_cur, command, needs.threads);
}

std::vector<LimitFinding> LookAtLimits() {
  const LimitNeeds cook = NeedsOf("cook", 0);
  const DescriptorLimit files = CurrentDescriptorLimit();
  std::vector<LimitFinding> findings;
  const auto add = [&findings](std::string name, bool ok, const std::string& text,
                               std::string_view advice) {
    findings.push_back({std::move(name), ok, ok ? text : fmt::format("{}; {}", text, advice)});
  };
  add("open files", files.soft >= cook.descriptors,
      fmt::format("soft limit {}, hard limit {} (taken), a cook needs {}",
                  DescriptorLimitBefore().value_or(files.soft), AsText(files.hard),
                  cook.descriptors),
      "raise the hard limit: ulimit -Hn");
  const rlimit space = LimitOf(RLIMIT_AS);
  add("address space", space.rlim_cur >= cook.address_space_bytes,
      fmt::format("soft limit {}, hard limit {}, a cook needs {}", AsMiB(space.rlim_cur),
                  AsMiB(space.rlim_max), AsMiB(cook.address_space_bytes)),
      "raise it: ulimit -v unlimited");
  const rlimit threads = LimitOf(RLIMIT_NPROC);
  const std::optional<uint64_t> left = ThreadsLeft();
  add("threads", !left.has_value() || *left >= cook.threads,
      fmt::format("soft limit {}, hard limit {}{}, a cook needs {}", AsText(threads.rlim_cur),
                  AsText(threads.rlim_max), left.has_value() ? fmt::format(", {} left", *left) : "",
                  cook.threads),
      "raise it: ulimit -u");
  return findings;
}

absl::Status ShareDescriptors(uint64_t descriptors, uint64_t connections, ServerShare& share) {
  constexpr uint64_t kStore = kDatabaseFiles + kOtherFiles;
  const uint64_t rest = descriptors - std::min(descriptors, kStore);
  share.connections = connections != 0 ? connections : std::min<uint64_t>(4096, rest / 2);
  if (share.connections > rest - rest / 4) {
    return ResourceExhaustedError(
        "--max-connections {}: this process may have {} open files, which is enough for {} "
        "connections: raise the hard limit (ulimit -Hn, LimitNOFILE= of a service)",
        connections, descriptors, rest - rest / 4);
  }
  const uint64_t files = rest - share.connections;
  share.calls = std::min<uint64_t>(4096, files / 2);
  share.uploads = std::min<uint64_t>(1024, files / 4);
  return absl::OkStatus();
}

}  // namespace galley::cli

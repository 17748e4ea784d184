// LocalSpawner: starts a worker of this machine as `<program> session --director <address> --id
// <id> --slots <n>` with GALLEY_TOKEN_FD=3. From our environment the worker gets only PATH, HOME,
// LANG and the sanitizers' options. Its standard input is empty; its standard output goes to the
// file of its standard error, so that nothing of the worker appears in the output of the cook.

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <map>
#include <utility>
#include <vector>

#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "director/launch/process_launcher.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

// The token is written to a pipe before the child reads it; this many bytes always fit (pipe(7):
// PIPE_BUF is 4,096).
constexpr size_t kTokenBytesMax = 4096;
constexpr int kTokenDescriptor = 3;
constexpr const char* kInheritedNames[] = {
    "PATH", "HOME", "LANG", "ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "LSAN_OPTIONS"};

std::vector<std::string> WorkerEnvironment() {
  std::vector<std::string> environment;
  for (const char* name : kInheritedNames) {
    if (const char* value = std::getenv(name); value != nullptr)
      environment.push_back(fmt::format("{}={}", name, value));
  }
  environment.push_back(fmt::format("GALLEY_TOKEN_FD={}", kTokenDescriptor));
  return environment;
}

// Returns the reading end of a pipe that holds `token` and nothing after it.
absl::StatusOr<FileDescriptor> TokenPipe(std::string_view token) {
  if (token.size() > kTokenBytesMax) {
    return InvalidArgumentError("the token has {} bytes, the limit is {}", token.size(),
                                kTokenBytesMax);
  }
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return ErrnoStatus(errno, "pipe for", "the token");
  FileDescriptor reading(ends[0]);
  const FileDescriptor writing(ends[1]);
  RETURN_IF_ERROR(WriteAll(writing.get(), token, "the token's pipe"));
  return reading;
}

class LocalSpawner final : public WorkerSpawner {
 public:
  explicit LocalSpawner(std::string program) : program_(std::move(program)) {}
  absl::StatusOr<ChildProcess> Start(const WorkerStart& start, const LaunchCallbacks&) override;
  std::string ReasonOf(const WorkerStart& start, const ExitStatus& status) override;

 private:
  const std::string program_;
  std::map<std::string, uint64_t> log_begins_;  // by worker: bytes that its log had before
};

// A worker that ends by itself and not in order says why.
std::string LocalSpawner::ReasonOf(const WorkerStart& start, const ExitStatus& status) {
  const auto begin = log_begins_.find(start.worker_id);
  const uint64_t from = begin == log_begins_.end() ? 0 : begin->second;
  if (begin != log_begins_.end()) log_begins_.erase(begin);
  if (status.code != kExitUnfit) return status.ToString();
  const std::string said = SaidSince(start.log_file, from);
  return said.empty() ? status.ToString() : fmt::format("{}; it said: {}", status.ToString(), said);
}

absl::StatusOr<ChildProcess> LocalSpawner::Start(const WorkerStart& start, const LaunchCallbacks&) {
  ASSIGN_OR_RETURN(const FileDescriptor token, TokenPipe(start.token));
  ASSIGN_OR_RETURN(const FileDescriptor log, OpenWorkerLog(start.log_file));
  log_begins_[start.worker_id] = LogSize(start.log_file);
  const int errors = log.valid() ? log.get() : STDERR_FILENO;
  ChildOptions options;
  options.argv = {program_, "session",       "--director", start.director_address,
                  "--id",   start.worker_id, "--slots",    fmt::format("{}", start.slots)};
  for (const std::string& label : start.offer.labels)
    options.argv.insert(options.argv.end(), {"--label", label});
  for (const std::string& resource : record::ResourceTexts(start.offer.resources))
    options.argv.insert(options.argv.end(), {"--resource", resource});
  options.environment = WorkerEnvironment();
  options.death_signal = 0;  // the next director takes the worker over, or it ends soon
  options.inherit = {
      {errors, STDOUT_FILENO}, {errors, STDERR_FILENO}, {token.get(), kTokenDescriptor}};
  return ChildProcess::Start(options);
}

}  // namespace

std::unique_ptr<Launcher> CreateLocalLauncher(std::string program,
                                              std::function<void(WorkerExit)> on_exit) {
  return CreateProcessLauncher(std::make_unique<LocalSpawner>(std::move(program)),
                               {.on_exit = std::move(on_exit)});
}

}  // namespace galley::director

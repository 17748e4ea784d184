// `galley worker`: one worker for the director of some project, by hand. It becomes galley-worker,
// which lies beside this program.

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/base/file.h"
#include "common/base/human_bytes.h"
#include "common/base/status_macros.h"
#include "common/listen/listen_address.h"
#include "director/cli/commands.h"
#include "director/cli/director_of_project.h"
#include "director/shell/director_shell.h"
#include "fmt/format.h"

namespace galley::cli {
namespace {

constexpr uint64_t kAddressBytesMax = 1'024;

std::string Variable(const char* name, const std::string& otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : otherwise;
}

// Fills in what the command line left out, from what the director of the project in which the
// command runs has written down.
absl::Status FillIn(WorkerOptions& worker) {
  if (!worker.director.empty() && !worker.token_file.empty()) return absl::OkStatus();
  const auto project = ProjectOfDirector(worker.global);
  if (!project.ok()) {
    return absl::InvalidArgumentError(fmt::format(
        "outside of a project --director and --token-file are needed: the address that [farm] "
        "listen of the project names, and the file .galley/state/{} of the project",
        director::kFarmTokenFile));
  }
  const std::string state = project->state_directory();
  if (worker.token_file.empty()) worker.token_file = JoinPath(state, director::kFarmTokenFile);
  if (!worker.director.empty()) return absl::OkStatus();
  auto address = ReadFile(JoinPath(state, director::kFarmAddressFile), kAddressBytesMax);
  if (!address.ok()) {
    return absl::InvalidArgumentError(fmt::format(
        "no director of {} takes workers now: set [farm] listen = \"127.0.0.1:0\" in galley.toml, "
        "and start a cook or `galley serve` there; or give --director",
        project->root));
  }
  while (!address->empty() && address->back() == '\n') address->pop_back();
  worker.director = *std::move(address);
  return absl::OkStatus();
}

absl::Status Check(const WorkerOptions& worker) {
  if (listen::IsUnixAddress(worker.director) || !listen::HostOf(worker.director).has_value()) {
    return absl::InvalidArgumentError(
        fmt::format("--director {}: expected HOST:PORT, the address that [farm] listen names",
                    worker.director));
  }
  const bool has_tls =
      !worker.tls_ca.empty() && !worker.tls_cert.empty() && !worker.tls_key.empty();
  if (!has_tls && !listen::IsLocalAddress(worker.director)) {
    return absl::InvalidArgumentError(fmt::format(
        "--director {}: an address of another machine needs TLS (--tls-ca, --tls-cert, --tls-key); "
        "an ssh tunnel makes it one of this machine: `ssh -L 9010:127.0.0.1:PORT HOST`, then "
        "--director 127.0.0.1:9010",
        worker.director));
  }
  if (::access(worker.token_file.c_str(), R_OK) != 0) {
    return absl::InvalidArgumentError(fmt::format(
        "--token-file {}: it cannot be read ({}); copy .galley/state/{} of the director's project "
        "there",
        worker.token_file, std::strerror(errno), director::kFarmTokenFile));
  }
  return absl::OkStatus();
}

std::string HostName() {
  char name[256] = {};
  return ::gethostname(name, sizeof(name) - 1) == 0 ? name : "worker";
}

}  // namespace

int RunWorker(const WorkerOptions& options) {
  WorkerOptions worker = options;
  const auto prepare = [&]() -> absl::StatusOr<uint64_t> {
    RETURN_IF_ERROR(FillIn(worker));
    RETURN_IF_ERROR(Check(worker));
    absl::StatusOr<uint64_t> size = ParseSize(worker.cache_size);
    if (!size.ok()) return Annotate(size.status(), "--cache-size");
    return size;
  };
  const absl::StatusOr<uint64_t> cache_bytes = prepare();
  if (!cache_bytes.ok()) return Fail(options.global, kUsage, MessageOf(cache_bytes.status()));
  if (worker.slots == 0) worker.slots = std::max(1u, std::thread::hardware_concurrency());
  if (worker.name.empty()) worker.name = fmt::format("{}-{}", HostName(), ::getpid());
  if (worker.cache.empty()) {
    const std::string caches =
        Variable("XDG_CACHE_HOME", JoinPath(Variable("HOME", "/tmp"), ".cache"));
    worker.cache = JoinPath(caches, "galley/worker");
  }
  std::vector<std::string> arguments = {JoinPath(ProgramDirectory(), "galley-worker"),
                                        "session",
                                        "--director",
                                        worker.director,
                                        "--id",
                                        worker.name,
                                        "--slots",
                                        fmt::format("{}", worker.slots),
                                        "--without-files",
                                        "--stay",
                                        "--cache",
                                        AbsolutePath(worker.cache),
                                        "--cache-bytes",
                                        fmt::format("{}", *cache_bytes),
                                        "--scratch",
                                        Variable("TMPDIR", "/tmp")};
  for (const auto& [option, file] :
       {std::pair{"--tls-ca", &worker.tls_ca}, std::pair{"--tls-cert", &worker.tls_cert},
        std::pair{"--tls-key", &worker.tls_key}}) {
    if (!file->empty()) arguments.insert(arguments.end(), {option, AbsolutePath(*file)});
  }
  ::unsetenv("GALLEY_TOKEN_FD");
  ::setenv("GALLEY_TOKEN_FILE", AbsolutePath(worker.token_file).c_str(), 1);
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  ::execv(argv[0], argv.data());
  return Fail(options.global, kInfrastructure,
              fmt::format("{} cannot be started: {}", arguments[0], std::strerror(errno)));
}

}  // namespace galley::cli

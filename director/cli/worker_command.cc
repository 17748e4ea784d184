// WorkerCommand: `galley worker`: one worker for the director of some project, started by hand or
// by a launcher. The command becomes galley-worker, which lies beside this program.

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/human_bytes.h"
#include "common/base/own_program.h"
#include "common/base/status_macros.h"
#include "common/listen/listen_address.h"
#include "director/cli/commands.h"
#include "director/cli/director_of_project.h"
#include "director/launch/ticket.h"
#include "director/shell/director_shell.h"
#include "fmt/format.h"

namespace galley::cli {
namespace {

constexpr uint64_t kAddressBytesMax = 1'024;

std::string Variable(const char* name, const std::string& otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : otherwise;
}

// Fills in what the command line left out, from the files of the director of the project in which
// the command runs.
absl::Status FillIn(WorkerOptions& worker) {
  if (!worker.director.empty() && !worker.token_file.empty()) return absl::OkStatus();
  const auto project = ProjectOfDirector(worker.global);
  if (!project.ok()) {
    return InvalidArgumentError(
        "outside of a project --director and --token-file are needed: the address that [farm] "
        "listen of the project names, and the file .galley/state/{} of the project",
        director::kFarmTokenFile);
  }
  const std::string state = project->state_directory();
  if (worker.token_file.empty()) worker.token_file = JoinPath(state, director::kFarmTokenFile);
  if (!worker.director.empty()) return absl::OkStatus();
  auto address = ReadFile(JoinPath(state, director::kFarmAddressFile), kAddressBytesMax);
  if (!address.ok()) {
    return InvalidArgumentError(
        "no director of {} takes workers now: set [farm] listen = \"127.0.0.1:0\" in galley.toml, "
        "and start a cook or `galley serve` there; or give --director",
        project->root);
  }
  while (!address->empty() && address->back() == '\n') address->pop_back();
  worker.director = *std::move(address);
  return absl::OkStatus();
}

absl::Status Check(const WorkerOptions& worker) {
  if (listen::IsUnixAddress(worker.director) || !listen::HostOf(worker.director).has_value()) {
    return InvalidArgumentError(
        "--director {}: expected HOST:PORT, the address that [farm] listen names", worker.director);
  }
  const bool has_tls =
      !worker.tls_ca.empty() && !worker.tls_cert.empty() && !worker.tls_key.empty();
  if (!has_tls && !listen::IsLocalAddress(worker.director)) {
    return InvalidArgumentError(
        "--director {}: an address of another machine needs TLS (--tls-ca, --tls-cert, --tls-key); "
        "an ssh tunnel makes it one of this machine: `ssh -L 9010:127.0.0.1:PORT HOST`, then "
        "--director 127.0.0.1:9010",
        worker.director);
  }
  if (::access(worker.token_file.c_str(), R_OK) != 0) {
    return InvalidArgumentError(
        "--token-file {}: it cannot be read ({}); copy .galley/state/{} of the director's project "
        "there",
        worker.token_file, std::strerror(errno), director::kFarmTokenFile);
  }
  return absl::OkStatus();
}

// Returns the first line of our standard input, and reads nothing after it.
absl::StatusOr<std::string> ReadInputLine() {
  std::string line;
  char byte = 0;
  while (line.size() < director::kTicketBytesMax) {
    const ssize_t count = ::read(STDIN_FILENO, &byte, 1);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return ErrnoStatus(errno, "read", "the standard input");
    if (count == 0 || byte == '\n') return line;
    line += byte;
  }
  return absl::InvalidArgumentError("the line is too long");
}

absl::StatusOr<director::Ticket> ReadTicket(const WorkerOptions& worker) {
  absl::StatusOr<std::string> line =
      worker.ticket == "-" ? ReadInputLine() : ReadFile(worker.ticket, director::kTicketBytesMax);
  if (!line.ok()) return Annotate(line.status(), fmt::format("--ticket {}", worker.ticket));
  absl::StatusOr<director::Ticket> ticket = director::DecodeTicket(*line);
  if (!ticket.ok()) return Annotate(ticket.status(), fmt::format("--ticket {}", worker.ticket));
  if (worker.index >= ticket->names.size()) {
    return InvalidArgumentError("--index {}: the ticket is for {} workers", worker.index,
                                ticket->names.size());
  }
  return ticket;
}

// Returns a descriptor from which the next program reads `text`.
absl::StatusOr<int> Inherited(const std::string& text) {
  FileDescriptor file(::memfd_create("ticket", 0));
  if (!file.valid()) return ErrnoStatus(errno, "make", "a descriptor for the ticket");
  RETURN_IF_ERROR(WriteAll(file.get(), text, "the ticket"));
  if (::lseek(file.get(), 0, SEEK_SET) != 0) return ErrnoStatus(errno, "rewind", "the ticket");
  return file.Release();
}

std::string HostName() {
  char name[256] = {};
  return ::gethostname(name, sizeof(name) - 1) == 0 ? name : "worker";
}

// Start: what differs between a worker that a person starts and a worker that a launcher starts.
struct Start {
  std::vector<std::string> arguments;  // of galley-worker, in addition to the common arguments
  std::string token_variable, token_value;
};

absl::StatusOr<Start> ByHand(WorkerOptions& worker) {
  RETURN_IF_ERROR(FillIn(worker));
  RETURN_IF_ERROR(Check(worker));
  Start start{.arguments = {"--stay"},
              .token_variable = "GALLEY_TOKEN_FILE",
              .token_value = AbsolutePath(worker.token_file)};
  for (const auto& [option, file] :
       {std::pair{"--tls-ca", &worker.tls_ca}, std::pair{"--tls-cert", &worker.tls_cert},
        std::pair{"--tls-key", &worker.tls_key}}) {
    if (!file->empty())
      start.arguments.insert(start.arguments.end(), {option, AbsolutePath(*file)});
  }
  return start;
}

absl::StatusOr<Start> ByTicket(WorkerOptions& worker) {
  ASSIGN_OR_RETURN(const director::Ticket ticket, ReadTicket(worker));
  worker.director = ticket.director;
  worker.name = ticket.names[worker.index];
  if (worker.shared_path.empty()) worker.shared_path = ticket.shared_path;
  record::WorkerOffer offer = ticket.offer;
  offer.Add(worker.offer);
  worker.offer = std::move(offer);
  ASSIGN_OR_RETURN(const int token, Inherited(ticket.token));
  Start start{.arguments = {"--launched"},
              .token_variable = "GALLEY_TOKEN_FD",
              .token_value = fmt::format("{}", token)};
  if (worker.is_until_input_ends) start.arguments.emplace_back("--until-input-ends");
  if (ticket.ca.empty()) return start;
  ASSIGN_OR_RETURN(const int authority, Inherited(ticket.ca));
  start.arguments.insert(start.arguments.end(),
                         {"--tls-ca", fmt::format("/proc/self/fd/{}", authority), "--enroll"});
  return start;
}

}  // namespace

int RunWorker(const WorkerOptions& options) {
  WorkerOptions worker = options;
  const absl::StatusOr<uint64_t> cache_bytes = ParseSize(worker.cache_size);
  if (!cache_bytes.ok())
    return Fail(options.global, kUsage, "--cache-size: " + MessageOf(cache_bytes.status()));
  absl::StatusOr<record::WorkerOffer> offer = record::ParseOffer(worker.labels, worker.resources);
  if (!offer.ok())
    return Fail(options.global, kUsage, "--label, --resource: " + MessageOf(offer.status()));
  worker.offer = *std::move(offer);
  const absl::StatusOr<Start> start = worker.ticket.empty() ? ByHand(worker) : ByTicket(worker);
  if (!start.ok()) return Fail(options.global, kUsage, MessageOf(start.status()));
  if (worker.slots == 0) worker.slots = std::max(1u, std::thread::hardware_concurrency());
  if (worker.name.empty()) worker.name = fmt::format("{}-{}", HostName(), ::getpid());
  if (worker.cache.empty()) {
    const std::string caches =
        Variable("XDG_CACHE_HOME", JoinPath(Variable("HOME", "/tmp"), ".cache"));
    worker.cache = JoinPath(caches, "galley/worker");
  }
  std::vector<std::string> arguments = CommandOf(JoinPath(ProgramDirectory(), "galley-worker"));
  for (const std::string& argument : std::vector<std::string>{
           "session", "--director", worker.director, "--id", worker.name, "--slots",
           fmt::format("{}", worker.slots), "--without-files", "--cache",
           AbsolutePath(worker.cache), "--cache-bytes", fmt::format("{}", *cache_bytes),
           "--scratch", Variable("TMPDIR", "/tmp")})
    arguments.push_back(argument);
  if (!worker.shared_path.empty()) {
    arguments.emplace_back("--shared-path");
    arguments.push_back(AbsolutePath(worker.shared_path));
  }
  arguments.insert(arguments.end(), start->arguments.begin(), start->arguments.end());
  for (const std::string& label : worker.offer.labels)
    arguments.insert(arguments.end(), {"--label", label});
  for (const std::string& resource : record::ResourceTexts(worker.offer.resources))
    arguments.insert(arguments.end(), {"--resource", resource});
  ::unsetenv("GALLEY_TOKEN_FD");
  ::unsetenv("GALLEY_TOKEN_FILE");
  ::setenv(start->token_variable.c_str(), start->token_value.c_str(), 1);
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  ::execv(argv[0], argv.data());
  return Fail(options.global, kInfrastructure,
              fmt::format("{} cannot be started: {}", arguments[0], std::strerror(errno)));
}

}  // namespace galley::cli

#include "worker/main/commands.h"

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "common/base/child_process.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/mutex.h"
#include "common/base/parse_whole.h"
#include "common/base/status_macros.h"
#include "common/record/cooker_description.h"
#include "common/record/worker_offer.h"
#include "common/wire/tls_pair.h"
#include "worker/executor/all_cookers.h"
#include "worker/executor/exec_action.h"
#include "worker/executor/executor_loop.h"
#include "worker/main/tell_launcher.h"
#include "worker/session/enroll.h"
#include "worker/walls/can_watch_calls.h"
#include "worker/walls/program_walls.h"

namespace galley::worker {
namespace {

constexpr uint64_t kTokenBytesMax = 4'096;
// For a worker that a launcher started on another machine.
constexpr absl::Duration kFirstContactMax = absl::Seconds(8);
constexpr absl::Duration kLaunchedReconnectMax = absl::Seconds(60);

std::string DescriptionsJson(const Cookers& cookers) {
  std::vector<record::CookerDescription> descriptions;
  for (const auto& cooker : cookers) descriptions.push_back(cooker->description());
  return record::EncodeDescriptions(descriptions);
}

// The cookers of a machine without the project: `command` only where calls can be watched, since
// programs look for the project's files at their places.
Cookers CookersWithoutFiles() {
  Cookers cookers = AllCookers();
  const absl::Status can_watch = CanWatchCalls();
  if (can_watch.ok()) return cookers;
  LogWarning(
      "no jobs of `command` are taken: {}. They go to workers on the director's machine, or on "
      "others",
      MessageOf(can_watch));
  std::erase_if(cookers,
                [](const auto& cooker) { return cooker->description().name == "command"; });
  return cookers;
}

// Why programs have no walls here; empty: they have walls.
std::string WallsMissing() {
  const absl::Status can = CanBuildWalls();
  return can.ok() ? std::string() : MessageOf(can);
}

int Print(const absl::StatusOr<ActionOutcome>& outcome) {
  if (!outcome.ok()) {
    std::fprintf(stderr, "galley-worker: %s\n", MessageOf(outcome.status()).c_str());
    return kExitOther;
  }
  for (const ActionOutcome::File& file : outcome->files) {
    std::printf("%s %s\n", file.digest.ToString().c_str(), file.path.c_str());
  }
  std::fputs(outcome->log.c_str(), stderr);
  if (!outcome->is_verdict) return 0;
  std::fprintf(stderr, "%s\n", outcome->error.c_str());
  return kExitVerdict;
}

absl::StatusOr<std::string> ReadDescriptor(int fd) {
  std::string text;
  char piece[512];
  while (text.size() <= kTokenBytesMax) {
    const ssize_t count = ::read(fd, piece, sizeof(piece));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return ErrnoStatus(errno, "read the token from descriptor", std::to_string(fd));
    if (count == 0) return text;
    text.append(piece, static_cast<size_t>(count));
  }
  return absl::InvalidArgumentError("the token is too long");
}

// Reads the token, and takes both variables out of the environment, so that no executor sees them.
absl::StatusOr<std::string> ReadToken() {
  const char* descriptor = std::getenv("GALLEY_TOKEN_FD");
  const char* file = std::getenv("GALLEY_TOKEN_FILE");
  absl::StatusOr<std::string> token = std::string();
  if (descriptor != nullptr) {
    const int fd = ParseWhole<int>(descriptor).value_or(-1);
    if (fd < 0)
      return absl::InvalidArgumentError("GALLEY_TOKEN_FD: expected a descriptor's number");
    token = ReadDescriptor(fd);
    ::close(fd);
  } else if (file != nullptr) {
    token = ReadFile(file, kTokenBytesMax);
  }
  ::unsetenv("GALLEY_TOKEN_FD");
  ::unsetenv("GALLEY_TOKEN_FILE");
  if (token.ok()) token->erase(token->find_last_not_of("\n\r ") + 1);
  return token;
}

absl::StatusOr<wire::ClientTls> ReadTls(const SessionFlags& flags, const std::string& token) {
  if (flags.enrolls) {
    ASSIGN_OR_RETURN(std::string authority, ReadFile(flags.tls_ca));
    return Enroll({.director = flags.config.director,
                   .worker_id = flags.config.worker_id,
                   .token = token,
                   .authority = std::move(authority),
                   .wait_max = kFirstContactMax});
  }
  if (flags.tls_ca.empty() && flags.tls_cert.empty() && flags.tls_key.empty())
    return wire::ClientTls();
  if (flags.tls_ca.empty() || flags.tls_cert.empty() || flags.tls_key.empty())
    return absl::InvalidArgumentError(
        "TLS: expected --tls-ca, --tls-cert and --tls-key, all three");
  ASSIGN_OR_RETURN(wire::TlsTexts texts,
                   wire::ReadTlsFiles(
                       {.certificate = flags.tls_cert, .key = flags.tls_key, .ca = flags.tls_ca}));
  return wire::ClientTls{.ca = std::move(texts.ca),
                         .certificate = std::move(texts.certificate),
                         .key = std::move(texts.key)};
}

}  // namespace

int Describe() {
  std::printf("%s\n", DescriptionsJson(AllCookers()).c_str());
  return 0;
}

int TellWalls() {
  const std::string missing = WallsMissing();
  std::printf("%s\n", missing.c_str());
  return missing.empty() ? 0 : kExitOther;
}

int ExecActionIn(const std::string& directory) {
  AdoptOrphans();
  return Print(ExecAction(directory, AllCookers()));
}

int CookHere(const std::string& cooker) {
  AdoptOrphans();
  return Print(CookInRoot(AbsolutePath("."), cooker, AllCookers()));
}

int RunExecutorHere() {
  AdoptOrphans();  // adopts programs that a cooker started
  ::signal(SIGINT, SIG_IGN);
  const Cookers cookers = AllCookers();
  const absl::Status status = RunExecutor(kExecutorSocket, kExecutorNotes, cookers);
  if (status.ok()) return 0;
  LogError("executor: {}", MessageOf(status));
  return kExitOther;
}

namespace {

// LastWords: the last error that was logged. Threads: any.
class LastWords {
 public:
  void Hear(LogLevel level, std::string_view line) {
    if (level != LogLevel::kError) return;
    const base::MutexLock lock(mutex_);
    words_ = line;
  }
  std::string words() const {
    const base::MutexLock lock(mutex_);
    return words_;
  }

 private:
  mutable base::Mutex mutex_;
  std::string words_ GALLEY_GUARDED_BY(mutex_);
};

int RunSessionWith(const SessionFlags& flags, const std::shared_ptr<LogFeed>& log) {
  AdoptOrphans();  // adopts the programs of executors that were killed
  absl::StatusOr<std::string> token = ReadToken();
  if (!token.ok()) {
    LogError("token: {}", MessageOf(token.status()));
    return kExitUsage;
  }
  const absl::StatusOr<record::WorkerOffer> offer =
      record::ParseOffer(flags.labels, flags.resources);
  if (!offer.ok()) {
    LogError("--label, --resource: {}", MessageOf(offer.status()));
    return kExitUsage;
  }
  const absl::StatusOr<wire::ClientTls> tls = ReadTls(flags, *token);
  if (!tls.ok()) {
    LogError("{}", MessageOf(tls.status()));
    return flags.enrolls ? kExitUnfit : kExitUsage;
  }
  SessionConfig config = flags.config;
  config.token = *std::move(token);
  config.program = JoinPath(ProgramDirectory(), "galley-worker");
  config.cookers_json =
      DescriptionsJson(config.is_without_files ? CookersWithoutFiles() : AllCookers());
  config.walls_missing = WallsMissing();
  config.offer = *offer;
  config.tls = *tls;
  config.renews_tls = flags.enrolls;
  if (flags.stays) {
    config.first_contact_max = config.reconnect_max = absl::InfiniteDuration();
  } else if (flags.is_launched) {
    config.first_contact_max = kFirstContactMax;
    config.reconnect_max = kLaunchedReconnectMax;
  }
  config.is_by_hand = flags.stays;
  config.log = log;
  return RunSession(config);
}

}  // namespace

int RunSessionWith(const SessionFlags& flags) {
  HoldTermination();
  const auto log = std::make_shared<LogFeed>();
  const auto words = std::make_shared<LastWords>();
  SetLogObserver([log, words](LogLevel level, std::string_view line) {
    log->Add(level, line);
    words->Hear(level, line);
  });
  const int code = RunSessionWith(flags, log);
  if (code == kExitUnfit && flags.is_launched) TellLauncher(words->words());
  return code;
}

}  // namespace galley::worker

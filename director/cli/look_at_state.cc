#include "director/cli/look_at_state.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <string_view>
#include <utility>

#include "common/base/digest.h"
#include "common/base/file.h"
#include "common/base/folder_names.h"
#include "common/base/sealed_text.h"
#include "common/base/status_macros.h"
#include "common/content/byte_codec.h"
#include "common/content/snapshot.h"
#include "common/content/table.h"
#include "director/journal/kept_limits.h"
#include "director/journal/look.h"
#include "director/shell/describe.h"
#include "director/stage/ledger.h"
#include "director/stage/sandbox.h"
#include "fmt/format.h"

namespace galley::cli {
namespace {

using Judge = std::function<absl::Status(const std::string& bytes)>;

absl::Status JudgeSealedText(std::string_view kind, const std::string& bytes) {
  return Unseal(kind, 1, bytes).status();
}

// The last 32 bytes are the checksum (common/content/byte_codec.h).
absl::Status JudgeSealedBytes(const std::string& bytes) {
  const std::string_view all = bytes;
  if (all.size() >= content::kMagicSize + Digest::kHashSize) {
    const std::string_view sealed = all.substr(0, all.size() - Digest::kHashSize);
    const Digest digest = Digest::Of(sealed);
    if (all.substr(sealed.size()) == digest.hash()) return absl::OkStatus();
  }
  return absl::DataLossError("its checksum is wrong");
}

class Look {
 public:
  explicit Look(std::string state) : state_(std::move(state)) {}

  StateLook Take(const std::vector<std::string>& sandboxes) && {
    look_.is_cooking = IsCooking();
    if (look_.is_cooking) return std::move(look_);
    LookAtFiles();
    LookAtTheJournal();
    for (const std::string& sandbox : sandboxes) LookAtSandbox(sandbox);
    // A cook that began meanwhile changed the files that were looked at.
    look_.is_cooking = IsCooking();
    return std::move(look_);
  }

 private:
  void Tell(const std::string& path, std::string what) {
    look_.findings.push_back({path, std::move(what)});
  }

  bool IsCooking() const {
    const FileDescriptor lock(
        ::open(JoinPath(state_, "lock").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    return lock.valid() && ::flock(lock.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  }

  void JudgeFile(const std::string& path, const Judge& judge) {
    const absl::StatusOr<std::string> bytes = ReadFile(path);
    if (absl::IsNotFound(bytes.status())) return;
    if (!bytes.ok()) return Tell(path, MessageOf(bytes.status()));
    if (const absl::Status judged = judge(*bytes); !judged.ok()) Tell(path, MessageOf(judged));
  }

  // A cook refuses a sandbox whose owner file a later Galley wrote.
  void JudgeOwner(const std::string& path) {
    const absl::StatusOr<std::string> bytes = ReadFile(path);
    const absl::Status judged =
        bytes.ok() ? JudgeSealedText("galley-sandbox", *bytes) : absl::OkStatus();
    if (!absl::IsFailedPrecondition(judged))
      return JudgeFile(path, [&](const std::string&) { return judged; });
    look_.findings.push_back({path, MessageOf(judged), /*heals=*/false});
  }

  void LookAtFiles() {
    const auto sealed_as = [](std::string_view kind) {
      return [kind](const std::string& bytes) { return JudgeSealedText(kind, bytes); };
    };
    JudgeFile(JoinPath(state_, "project"), sealed_as("galley-project"));
    JudgeFile(JoinPath(state_, "project.copy"), sealed_as("galley-project"));
    JudgeFile(JoinPath(state_, "sandboxes"), sealed_as("galley-sandboxes"));
    JudgeFile(JoinPath(state_, "last-success"), sealed_as("galley-last-success"));
    JudgeFile(JoinPath(state_, "digests"), JudgeSealedBytes);
    JudgeFile(JoinPath(state_, "cookers.json"), director::JudgeCookerCache);
    JudgeFile(JoinPath(state_, "kept_limits"),
              [](const std::string& bytes) { return director::DecodeKeptLimits(bytes).status(); });
    JudgeFile(JoinPath(state_, "lock"), [](const std::string&) { return absl::OkStatus(); });
    for (const std::string& name : NamesIn(state_)) {
      if (name.starts_with("snapshot-") && name.ends_with(".table"))
        JudgeFile(JoinPath(state_, name), [](const std::string& bytes) {
          const absl::Status status = content::TableFile::FromBytes(bytes).status();
          return absl::IsFailedPrecondition(status) ? absl::OkStatus() : status;
        });
    }
  }

  void LookAtTheJournal() {
    const absl::Status status = director::LookAtJournal(state_);
    const std::string path = JoinPath(state_, "journal");
    if (absl::IsDataLoss(status) || absl::IsFailedPrecondition(status)) {
      Tell(path, fmt::format("{}; it is moved aside, and every package is looked up again",
                             MessageOf(status)));
    } else if (!status.ok() && !absl::IsNotFound(status)) {
      look_.findings.push_back({path,
                                fmt::format("it could not be looked at: {}", MessageOf(status)),
                                /*heals=*/false});
    }
  }

  void LookAtSandbox(const std::string& directory) {
    JudgeOwner(JoinPath(directory, content::kSandboxFile));
    if (!FileExists(directory)) return;  // opening it would make it
    absl::StatusOr<director::Sandbox> sandbox = director::Sandbox::Open(directory);
    if (!sandbox.ok()) return;
    const absl::StatusOr<director::Ledger> ledger = director::ReadLedger(*sandbox);
    if (!ledger.ok()) return Tell(directory, MessageOf(ledger.status()));
    for (const std::string& one : ledger->damage) {
      const size_t colon = one.find(": ");
      Tell(one.substr(0, colon), one.substr(colon + 2));
    }
  }

  const std::string state_;
  StateLook look_;
};

}  // namespace

StateLook LookAtState(const std::string& state_directory,
                      const std::vector<std::string>& sandboxes) {
  return Look(state_directory).Take(sandboxes);
}

}  // namespace galley::cli

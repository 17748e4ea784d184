#include "worker/executor/exec_action.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "common/base/clock.h"
#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/record/action.h"
#include "common/tree/tree.h"
#include "fmt/format.h"
#include "worker/executor/action_inputs.h"

namespace galley::worker {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMessageBytesMax = 1 << 20;
constexpr uint64_t kMemoryBytesMax = 4ull << 30;
constexpr int kDepthMax = 4'096;

absl::StatusOr<Digest> HashFolder(const std::string& directory, int depth);

absl::Status HashEntry(const fs::directory_entry& entry, int depth, tree::Directory& directory) {
  const std::string path = entry.path().string();
  const std::string name = entry.path().filename().string();
  ASSIGN_OR_RETURN(const FileStat stat, StatFile(path, /*follow_links=*/false));
  if (S_ISDIR(stat.mode)) {
    ASSIGN_OR_RETURN(const Digest digest, HashFolder(path, depth + 1));
    directory.directories.push_back({.name = name, .digest = digest});
    return absl::OkStatus();
  }
  if (!S_ISREG(stat.mode)) return InvalidArgumentError("{} is neither a file nor a folder", path);
  ASSIGN_OR_RETURN(const Digest digest, DigestOfFile(path));
  directory.files.push_back(
      {.name = name, .digest = digest, .is_executable = (stat.mode & S_IXUSR) != 0});
  return absl::OkStatus();
}

absl::StatusOr<Digest> HashFolder(const std::string& path, int depth) {
  if (depth > kDepthMax) return InvalidArgumentError("{} is nested too deep", path);
  tree::Directory directory;
  std::error_code error;
  for (fs::directory_iterator at(path, error), end; !error && at != end; at.increment(error)) {
    RETURN_IF_ERROR(HashEntry(*at, depth, directory));
  }
  if (error) return ErrnoStatus(error.value(), "list", path);
  std::ranges::sort(directory.files, [](const auto& a, const auto& b) { return a.name < b.name; });
  std::ranges::sort(directory.directories,
                    [](const auto& a, const auto& b) { return a.name < b.name; });
  return Digest::Of(tree::EncodeDirectory(directory));
}

absl::StatusOr<std::string> FileDigestText(const std::string& path) {
  ASSIGN_OR_RETURN(const Digest digest, DigestOfFile(path));
  return digest.ToString();
}

// The first file of the input root that is not what recipe and observations say; empty: they name
// no such file.
absl::StatusOr<std::string> FirstDifference(const std::string& root,
                                            std::string_view trust_domain) {
  ASSIGN_OR_RETURN(const std::unique_ptr<ActionInputs> inputs, ActionInputs::Open(root));
  ASSIGN_OR_RETURN(const SourceContent source, inputs->Source(0));
  ASSIGN_OR_RETURN(const record::Action action,
                   record::BuildAction({.recipe = inputs->recipe(),
                                        .source = source.digest,
                                        .observed = inputs->observed(),
                                        .trust_domain = std::string(trust_domain)}));
  for (const record::InputFile& file : action.files) {
    const absl::StatusOr<std::string> found = FileDigestText(JoinPath(root, file.path));
    if (!found.ok()) return fmt::format("{} ({})", file.path, MessageOf(found.status()));
    if (*found != file.digest.ToString()) {
      return fmt::format("{} is {}, expected {}", file.path, *found, file.digest.ToString());
    }
  }
  return std::string();
}

absl::Status VerifyInputRoot(const std::string& root, const record::ActionMessage& action) {
  ASSIGN_OR_RETURN(const Digest found, HashInputRoot(root));
  if (found == action.input_root) return absl::OkStatus();
  const absl::StatusOr<std::string> difference = FirstDifference(root, action.trust_domain);
  const std::string detail =
      !difference.ok()      ? MessageOf(difference.status())
      : difference->empty() ? "its source, recipe, an executable bit or a superfluous file differs"
                            : *difference;
  return FailedPreconditionError("{} is not the Action's input root: found {}, expected {}: {}",
                                 root, found.ToString(), action.input_root.ToString(), detail);
}

class Collected final : public JobSink {
 public:
  absl::Status Loaded(const LoadReport&) override { return absl::OkStatus(); }
  absl::Status Saved(const SaveReport& report) override {
    saved = report;
    return absl::OkStatus();
  }
  SaveReport saved;
};

absl::Status StatusOf(const JobEnd& end) {
  if (std::holds_alternative<JobDone>(end)) return absl::OkStatus();
  if (const auto* needs = std::get_if<JobNeeds>(&end)) {
    return FailedPreconditionError("needs the cooked output of {}", needs->package);
  }
  if (const auto* stale = std::get_if<JobStale>(&end)) {
    return FailedPreconditionError("{} changed", stale->path);
  }
  const Trouble& trouble = std::get<Trouble>(end);
  switch (trouble.cause) {
    case TroubleCause::kUnknown:
    case TroubleCause::kOtherTool:
    case TroubleCause::kNeedsFiles:
      return absl::FailedPreconditionError(trouble.error);
    case TroubleCause::kMemory:
      return absl::ResourceExhaustedError(trouble.error);
    case TroubleCause::kTimeout:
      return absl::DeadlineExceededError(trouble.error);
    case TroubleCause::kInfrastructure:
      return absl::UnavailableError(trouble.error);
  }
  return absl::UnknownError(trouble.error);
}

absl::Status WriteOutput(const std::string& base, const std::string& path,
                         const PieceStream& stream, bool is_executable, ActionOutcome& outcome) {
  const std::string host_path = JoinPath(base, path);
  RETURN_IF_ERROR(CreateDirectories(fs::path(host_path).parent_path().string()));
  ASSIGN_OR_RETURN(const Digest digest, WriteInPieces(host_path, stream));
  if (::chmod(host_path.c_str(), is_executable ? 0755 : 0644) != 0)
    return ErrnoStatus(errno, "chmod", host_path);
  outcome.files.push_back({.path = path, .digest = digest});
  return absl::OkStatus();
}

PieceStream StreamOf(std::string_view bytes) {
  return [bytes](const TakePiece& take) { return take(bytes); };
}

absl::StatusOr<ActionOutcome> Run(const std::string& root, const std::string& base,
                                  ActionInputs& inputs, const Cookers& cookers) {
  SystemClock clock;
  Collected sink;
  const JobSpec spec{.targets = {{.platform = 0, .recipe = inputs.recipe()}},
                     .memory_bytes_max = kMemoryBytesMax};
  RETURN_IF_ERROR(Annotate(StatusOf(RunJob(spec, inputs, cookers, clock, sink)), root));
  RETURN_IF_ERROR(RemoveAll(JoinPath(base, "out")));
  ActionOutcome outcome{.files = {},
                        .is_verdict = sink.saved.is_verdict,
                        .error = sink.saved.error,
                        .log = sink.saved.log};
  for (const CookedFile& file : sink.saved.outputs) {
    RETURN_IF_ERROR(WriteOutput(base, std::string(record::kOutputStem) + file.suffix,
                                file.bytes == nullptr ? file.stream : StreamOf(*file.bytes),
                                file.is_executable, outcome));
  }
  const std::string details = record::EncodeDetails(sink.saved.details);
  RETURN_IF_ERROR(
      WriteOutput(base, std::string(record::kDetailsPath), StreamOf(details), false, outcome));
  return outcome;
}

}  // namespace

absl::StatusOr<Digest> HashInputRoot(const std::string& directory) {
  return HashFolder(directory, 0);
}

absl::StatusOr<ActionOutcome> ExecAction(const std::string& directory, const Cookers& cookers) {
  ASSIGN_OR_RETURN(const std::string action_bytes,
                   ReadFile(JoinPath(directory, "action"), kMessageBytesMax));
  ASSIGN_OR_RETURN(const std::string command_bytes,
                   ReadFile(JoinPath(directory, "command"), kMessageBytesMax));
  const absl::StatusOr<record::ActionMessage> action = record::DecodeAction(action_bytes);
  if (!action.ok()) return Annotate(action.status(), JoinPath(directory, "action"));
  if (Digest::Of(command_bytes) != action->command) {
    return FailedPreconditionError("{} is not the Action's command",
                                   JoinPath(directory, "command"));
  }
  const std::string root = JoinPath(directory, "input");
  RETURN_IF_ERROR(VerifyInputRoot(root, *action));
  ASSIGN_OR_RETURN(const std::unique_ptr<ActionInputs> inputs, ActionInputs::Open(root));
  return Run(root, directory, *inputs, cookers);
}

absl::StatusOr<ActionOutcome> CookInRoot(const std::string& root, std::string_view cooker,
                                         const Cookers& cookers) {
  ASSIGN_OR_RETURN(const std::unique_ptr<ActionInputs> inputs, ActionInputs::Open(root));
  if (inputs->recipe().cooker != cooker) {
    return FailedPreconditionError("the recipe is for cooker `{}`, not `{}`",
                                   inputs->recipe().cooker, cooker);
  }
  return Run(root, root, *inputs, cookers);
}

}  // namespace galley::worker

#include "worker/executor/action_inputs.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/content/name.h"
#include "common/record/action.h"
#include "worker/executor/mount_view.h"

namespace galley::worker {
namespace {

using record::ObservationKind;

constexpr uint64_t kInputBytesMax = 4ull << 30;
constexpr uint64_t kRecipeBytesMax = 16 << 20;

std::string TemporaryParent() {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::temp_directory_path(error);
  return error ? "/tmp" : path.string();
}

}  // namespace

ActionInputs::ActionInputs(std::string root, record::Recipe recipe,
                           std::vector<record::Observed> observed)
    : root_(std::move(root)),
      recipe_(std::move(recipe)),
      observed_(std::move(observed)),
      scratch_(TemporaryParent()) {}

absl::StatusOr<std::unique_ptr<ActionInputs>> ActionInputs::Open(const std::string& root) {
  ASSIGN_OR_RETURN(const std::string recipe_bytes,
                   ReadFile(JoinPath(root, "recipe"), kRecipeBytesMax));
  absl::StatusOr<record::Recipe> recipe = record::DecodeRecipe(recipe_bytes);
  if (!recipe.ok()) return Annotate(recipe.status(), JoinPath(root, "recipe"));
  ASSIGN_OR_RETURN(const std::string observed_bytes,
                   ReadFile(JoinPath(root, "observations"), kInputBytesMax));
  auto observed = record::DecodeObserved(observed_bytes);
  if (!observed.ok()) return Annotate(observed.status(), JoinPath(root, "observations"));
  return std::unique_ptr<ActionInputs>(
      new ActionInputs(root, *std::move(recipe), *std::move(observed)));
}

absl::StatusOr<SourceContent> ActionInputs::Source(uint64_t bytes_max) {
  const std::string path = JoinPath(root_, "source");
  ASSIGN_OR_RETURN(const FileStat stat, StatFile(path));
  if (stat.size_bytes > bytes_max) {
    ASSIGN_OR_RETURN(source_, DigestOfFile(path));
    return SourceContent{.bytes = nullptr, .digest = source_};
  }
  ASSIGN_OR_RETURN(std::string bytes, ReadFile(path, kInputBytesMax));
  bytes_loaded_.cold += bytes.size();
  source_ = Digest::Of(bytes);
  return SourceContent{.bytes = MakeBlob(std::move(bytes)), .digest = source_};
}

absl::Status ActionInputs::StreamSource(const TakePiece& take) {
  return StreamVerified(JoinPath(root_, "source"), source_.ToString(), take);
}

absl::Status ActionInputs::StreamCooked(uint32_t platform, const record::Observation& what,
                                        const TakePiece& take) {
  ASSIGN_OR_RETURN(const Look look, Observe(platform, what, Want::kValue));
  const auto at = std::ranges::find_if(
      observed_, [&](const record::Observed& one) { return one.what == what; });
  const auto index = static_cast<size_t>(at - observed_.begin());
  return StreamVerified(JoinPath(root_, record::InputPath(what, index)), look.value, take);
}

absl::Status ActionInputs::StreamVerified(const std::string& host_path, std::string_view value,
                                          const TakePiece& take) {
  DigestBuilder builder;
  const TakePiece hash_and_take = [&](std::string_view piece) {
    builder.Add(piece);
    return take(piece);
  };
  RETURN_IF_ERROR(ReadInPieces(host_path, hash_and_take));
  const Digest digest = builder.Finish();
  bytes_loaded_.cold += digest.size_bytes();
  if (digest.ToString() == value) return absl::OkStatus();
  return FailedPreconditionError("{} is {}, observed was {}", host_path, digest.ToString(), value);
}

absl::StatusOr<Blob> ActionInputs::ReadVerified(const std::string& host_path,
                                                std::string_view value) {
  ASSIGN_OR_RETURN(std::string bytes, ReadFile(host_path, kInputBytesMax));
  bytes_loaded_.cold += bytes.size();
  if (const Digest digest = Digest::Of(bytes); digest.ToString() != value) {
    return FailedPreconditionError("{} is {}, observed was {}", host_path, digest.ToString(),
                                   value);
  }
  return MakeBlob(std::move(bytes));
}

absl::StatusOr<Look> ActionInputs::Observe(uint32_t, const record::Observation& what, Want want) {
  const auto at =
      std::lower_bound(observed_.begin(), observed_.end(), what,
                       [](const record::Observed& one, const record::Observation& other) {
                         return one.what < other;
                       });
  if (at == observed_.end() || at->what != what) {
    return FailedPreconditionError("not observed: {}", what.ToString());
  }
  const auto index = static_cast<size_t>(at - observed_.begin());
  Look look{.value = at->value, .bytes = nullptr, .host_path = ""};
  if (what.kind == ObservationKind::kTool) return Tool(*at, index);
  const bool has_bytes =
      (what.kind == ObservationKind::kFile || what.kind == ObservationKind::kCooked) &&
      at->value != record::kAbsent && at->value != record::kFolder;
  if (has_bytes && want == Want::kBytes) {
    ASSIGN_OR_RETURN(look.bytes,
                     ReadVerified(JoinPath(root_, record::InputPath(what, index)), at->value));
  }
  return look;
}

absl::StatusOr<Look> ActionInputs::Tool(const record::Observed& tool, size_t index) {
  Look look{.value = tool.value, .bytes = nullptr, .host_path = ""};
  if (tool.value == record::kAbsent) return look;
  const std::string& path = tool.what.subject;
  look.host_path = path.starts_with('/')
                       ? path
                       : AbsolutePath(record::InputPath(tool.what, index), AbsolutePath(root_));
  ASSIGN_OR_RETURN(const Digest digest, DigestOfFile(look.host_path));
  if (digest.ToString() != tool.value) {
    return FailedPreconditionError("{} is {}, observed was {}", look.host_path, digest.ToString(),
                                   tool.value);
  }
  return look;
}

absl::StatusOr<const ChildWalls*> ActionInputs::Walls() {
  if (!walls_.has_value()) {
    ASSIGN_OR_RETURN(const std::string scratch, scratch_.Directory());
    walls_.emplace(ProjectWalls::Options{.mode = "", .read_only = {root_}, .jobs = scratch});
  }
  return walls_->Around({});
}

absl::Status ActionInputs::ShowMounts(const std::string& directory) {
  const record::Observation name{.kind = ObservationKind::kName, .subject = "", .detail = ""};
  ASSIGN_OR_RETURN(const Look package, Observe(0, name, Want::kValue));
  for (size_t i = 0; i < observed_.size(); ++i) {
    const record::Observed& one = observed_[i];
    if (one.what.kind != ObservationKind::kFile || one.value == record::kAbsent ||
        one.value == record::kFolder)
      continue;
    ASSIGN_OR_RETURN(const std::string path,
                     content::ResolveAsked(package.value, one.what.subject));
    const PieceStream stream = [&](const TakePiece& take) {
      return StreamVerified(JoinPath(root_, record::InputPath(one.what, i)), one.value, take);
    };
    RETURN_IF_ERROR(MountView::PutFile(directory, path, stream));
  }
  RETURN_IF_ERROR(Source(/*bytes_max=*/0).status());
  return MountView::PutFile(directory, package.value,
                            [this](const TakePiece& take) { return StreamSource(take); });
}

}  // namespace galley::worker

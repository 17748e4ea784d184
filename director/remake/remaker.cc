#include "director/remake/remaker.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/read_pieces.h"
#include "common/base/status_macros.h"
#include "common/base/temporary_folder.h"
#include "director/remake/limited_run.h"
#include "director/remake/made_outputs.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

constexpr std::chrono::milliseconds kEnterLookInterval(50);
constexpr int kExitVerdict = 1;  // of exec-action: the cooker judged that its inputs are wrong

template <typename... T>
struct Overloaded : T... {
  using T::operator()...;
};
template <typename... T>
Overloaded(T...) -> Overloaded<T...>;

std::string DigestText(const std::optional<Digest>& digest) {
  return digest.has_value() ? digest->ToString() : "absent";
}

std::string TextOfAbsent(const std::vector<AbsentInput>& absent) {
  constexpr size_t kNamedMax = 5;
  std::string text;
  for (size_t i = 0; i < std::min(kNamedMax, absent.size()); ++i) {
    text +=
        fmt::format("{}{} ({})", i == 0 ? "" : ", ", absent[i].what, absent[i].digest.ToString());
  }
  if (absent.size() > kNamedMax) text += fmt::format(", and {} more", absent.size() - kNamedMax);
  return text;
}

}  // namespace

std::string TextOf(const Remade& remade) {
  return std::visit(
      Overloaded{
          [](const RecordMade& made) -> std::string {
            return made.was_there ? "the outputs are in the store" : "the outputs were made again";
          },
          [](const RecordDiffers& differs) {
            return fmt::format("{} came out as {}, recorded was {}", differs.path,
                               DigestText(differs.made), DigestText(differs.recorded));
          },
          [](const RecordGone& gone) {
            return fmt::format("it cannot be made again without what is gone: {}",
                               TextOfAbsent(gone.absent));
          },
          [](const OtherCooker& other) {
            return fmt::format("the cooker `{}` was {} then, and is {} now", other.cooker,
                               other.recorded, other.present.empty() ? "gone" : other.present);
          }},
      remade);
}

// Turn: the right to make a key.
class Remaker::Turn {
 public:
  Turn(Remaker& remaker, const Digest& action_key) : remaker_(remaker), action_key_(action_key) {}
  ~Turn() { remaker_.Leave(action_key_); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  Remaker& remaker_;
  const Digest action_key_;
};

Remaker::Remaker(store::Store& store, IdentityOf identity_of, Options options)
    : store_(store), identity_of_(std::move(identity_of)), options_(std::move(options)) {}

absl::StatusOr<Remade> Remaker::Remake(const Digest& action_key, const Cancellation& stop) {
  RETURN_IF_ERROR(Enter(action_key, stop));
  const Turn turn(*this, action_key);
  return Make(action_key, stop);
}

absl::Status Remaker::Enter(const Digest& action_key, const Cancellation& stop) {
  base::MutexLock lock(mutex_);
  while (making_.contains(action_key)) {
    if (stop.is_cancelled()) return absl::CancelledError("nobody waits for the outputs");
    changed_.WaitFor(mutex_, kEnterLookInterval);
  }
  if (making_.size() >= options_.at_once_max) {
    return ResourceExhaustedError("{} results are being made again; ask again later",
                                  making_.size());
  }
  making_.insert(action_key);
  return absl::OkStatus();
}

void Remaker::Leave(const Digest& action_key) {
  {
    base::MutexLock lock(mutex_);
    making_.erase(action_key);
  }
  changed_.NotifyAll();
}

absl::StatusOr<record::Result> Remaker::ResultOf(const Digest& action_key) {
  ASSIGN_OR_RETURN(const auto found, store_.RecordedResults(std::span(&action_key, 1)));
  if (!found.front().has_value())
    return NotFoundError("the store has no result of action key {}", action_key.ToString());
  ASSIGN_OR_RETURN(record::Result result, record::DecodeResult(*found.front()));
  if (!result.is_verdict) return result;
  return FailedPreconditionError("the result of action key {} is a verdict, without outputs: {}",
                                 action_key.ToString(), result.error);
}

// Looks at the disk: somebody may ask since an output was deleted there.
absl::StatusOr<std::vector<Digest>> Remaker::MissingOf(const record::Result& result) {
  std::vector<Digest> named;
  for (const record::Output& output : result.outputs) named.push_back(output.digest);
  return store_.FindLost(named);
}

std::optional<OtherCooker> Remaker::JudgeCooker(const record::Recipe& recipe) const {
  std::string present = identity_of_(recipe.cooker);
  if (present == recipe.identity) return std::nullopt;
  return OtherCooker{
      .cooker = recipe.cooker, .recorded = recipe.identity, .present = std::move(present)};
}

absl::StatusOr<Remade> Remaker::Make(const Digest& action_key, const Cancellation& stop) {
  ASSIGN_OR_RETURN(record::Result result, ResultOf(action_key));
  ASSIGN_OR_RETURN(const std::vector<Digest> missing, MissingOf(result));
  if (missing.empty()) return RecordMade{.result = std::move(result), .was_there = true};
  RecordGone gone;
  const auto read = [&](std::string_view name, const Digest& digest) {
    absl::StatusOr<Blob> blob = store_.Get(digest);
    if (absl::IsNotFound(blob.status()) || absl::IsDataLoss(blob.status()))
      gone.absent.push_back({.digest = digest, .path = "", .what = std::string(name)});
    return blob;
  };
  const absl::StatusOr<record::KeptAction> kept = record::ReadKeptAction(action_key, read);
  if (!gone.absent.empty()) return gone;
  RETURN_IF_ERROR(kept.status());
  if (std::optional<OtherCooker> other = JudgeCooker(kept->inputs.recipe); other.has_value())
    return *std::move(other);
  return MakeFrom(*kept, std::move(result), stop);
}

absl::StatusOr<Remade> Remaker::MakeFrom(const record::KeptAction& kept, record::Result result,
                                         const Cancellation& stop) {
  RETURN_IF_ERROR(CreateDirectories(options_.scratch_directory));
  ASSIGN_OR_RETURN(const TemporaryFolder folder,
                   TemporaryFolder::Make(options_.scratch_directory, "remake-"));
  ASSIGN_OR_RETURN(std::vector<AbsentInput> absent,
                   LayOutAction(kept, store_, folder.path(), stop));
  if (!absent.empty()) return RecordGone{.absent = std::move(absent)};
  ASSIGN_OR_RETURN(std::optional<RecordDiffers> differs, Run(folder.path(), result, stop));
  if (differs.has_value()) {
    Remade remade = *std::move(differs);
    LogError("action_key={} cooker={} a result came out otherwise when it was made again: {}",
             kept.action.key.ToString(), kept.inputs.recipe.cooker, TextOf(remade));
    return remade;
  }
  RETURN_IF_ERROR(PutOutputs(folder.path(), result));
  return RecordMade{.result = std::move(result)};
}

absl::StatusOr<std::optional<RecordDiffers>> Remaker::Run(const std::string& folder,
                                                          const record::Result& result,
                                                          const Cancellation& stop) const {
  const std::string scratch = JoinPath(folder, "tmp");
  RETURN_IF_ERROR(CreateDirectories(scratch));
  ASSIGN_OR_RETURN(const LimitedEnd end,
                   RunLimited({.argv = {options_.worker_program, "exec-action", folder},
                               .environment = {"LANG=C.UTF-8", "TZ=UTC", "TMPDIR=" + scratch},
                               .output_file = JoinPath(folder, "log"),
                               .wait_max = options_.wait_max,
                               .memory_bytes_max = options_.memory_bytes_max,
                               .file_bytes_max = options_.file_bytes_max},
                              stop));
  if (end.exit.signal == 0 && end.exit.code == kExitVerdict) {
    LogWarning("exec-action: a verdict: {}", end.said);
    return RecordDiffers{.path = "out"};
  }
  if (!end.exit.ok()) {
    return UnavailableError("{} exec-action ended with {}: {}", options_.worker_program,
                            end.exit.ToString(), end.said);
  }
  ASSIGN_OR_RETURN(std::optional<UnequalOutput> unequal, CompareOutputs(folder, result));
  if (!unequal.has_value()) return std::nullopt;
  return RecordDiffers{
      .path = std::move(unequal->path), .recorded = unequal->recorded, .made = unequal->made};
}

// The commit makes the outputs durable.
absl::Status Remaker::PutOutputs(const std::string& folder, const record::Result& result) {
  ASSIGN_OR_RETURN(const std::vector<Digest> missing, MissingOf(result));
  absl::flat_hash_set<Digest> left(missing.begin(), missing.end());
  for (const record::Output& output : result.outputs) {
    if (left.erase(output.digest) == 0) continue;
    const std::string path = JoinPath(folder, std::string(record::kOutputStem) + output.suffix);
    ASSIGN_OR_RETURN(const std::unique_ptr<store::BlobWriter> writer,
                     store_.NewWriter(output.digest));
    RETURN_IF_ERROR(
        ReadInPieces(path, [&](std::string_view piece) { return writer->Append(piece); }));
    RETURN_IF_ERROR(writer->Finish());
  }
  return store_.Commit({});
}

}  // namespace galley::director

#include "director/resident/store_answers.h"

#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "common/base/errors.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

constexpr absl::Duration kRetryAfter = absl::Seconds(2);

template <typename... Handlers>
struct Overloaded : Handlers... {
  using Handlers::operator()...;
};
template <typename... Handlers>
Overloaded(Handlers...) -> Overloaded<Handlers...>;

DeviceRefusal Gone(std::string text) {
  return {.kind = RefusalKind::kGone, .text = std::move(text)};
}

DeviceFile Immutable(const Digest& digest, bool is_executable, std::string tag) {
  return {.digest = digest,
          .is_executable = is_executable,
          .tag = std::move(tag),
          .caching = FileCaching::kImmutable};
}

RefusalKind KindOf(const absl::Status& status) {
  if (absl::IsInvalidArgument(status)) return RefusalKind::kInvalid;
  if (absl::IsNotFound(status)) return RefusalKind::kAbsent;
  if (absl::IsDeadlineExceeded(status)) return RefusalKind::kDeadline;
  const bool may_come =
      absl::IsUnavailable(status) || absl::IsResourceExhausted(status) || absl::IsCancelled(status);
  return may_come ? RefusalKind::kNotReady : RefusalKind::kInfrastructure;
}

}  // namespace

DeviceRefusal Absent(std::string text) {
  return {.kind = RefusalKind::kAbsent, .text = std::move(text)};
}

DeviceRefusal NotReady(std::string text) {
  return {.kind = RefusalKind::kNotReady, .text = std::move(text), .retry_after = kRetryAfter};
}

DeviceRefusal RefusalOf(const absl::Status& status) {
  DeviceRefusal refusal{.kind = KindOf(status), .text = MessageOf(status)};
  if (refusal.kind == RefusalKind::kNotReady) refusal.retry_after = kRetryAfter;
  return refusal;
}

absl::StatusOr<bool> StoreAnswers::Has(const Digest& digest) const {
  ASSIGN_OR_RETURN(const std::vector<Digest> missing,
                   store_.FindMissing(std::span<const Digest>(&digest, 1)));
  return missing.empty();
}

DeviceAnswer StoreAnswers::FindInRoot(const Digest& root, const std::string& path) const {
  const absl::StatusOr<tree::FollowedPath> found = tree::FollowLinks(root, path, reader());
  if (found.ok()) return AnswerOf(*found, root);
  if (absl::IsNotFound(found.status()))
    return Gone(fmt::format("the root {} was collected, or never was here", root.ToString()));
  // The bytes are no folder of a tree.
  if (absl::IsInvalidArgument(found.status())) return Absent(MessageOf(found.status()));
  return RefusalOf(found.status());
}

DeviceAnswer StoreAnswers::AnswerOf(const tree::FollowedPath& found, const Digest& root) const {
  const auto absent = [&](const std::string& path, std::string_view what) {
    return Absent(fmt::format("{}: {} in the root {}", path, what, root.ToString()));
  };
  return std::visit(Overloaded{[&](const tree::TreeFile& file) -> DeviceAnswer {
                                 const absl::StatusOr<bool> is_there = Has(file.digest);
                                 if (!is_there.ok()) return RefusalOf(is_there.status());
                                 if (!*is_there)
                                   return Gone(fmt::format("{} was collected", file.path));
                                 return Immutable(file.digest, file.is_executable,
                                                  FileTag(std::nullopt, file.digest));
                               },
                               [&](const tree::FoundFolder& folder) -> DeviceAnswer {
                                 return absent(folder.path, "a folder");
                               },
                               [&](const tree::AbsentPath& path) -> DeviceAnswer {
                                 return absent(path.path, "no such path");
                               },
                               [&](const tree::DanglingLink& link) -> DeviceAnswer {
                                 return absent(link.path, "not cooked yet");
                               }},
                    found);
}

DeviceAnswer StoreAnswers::FindBlob(const Digest& digest) const {
  const absl::StatusOr<bool> is_there = Has(digest);
  if (!is_there.ok()) return RefusalOf(is_there.status());
  if (!*is_there) return Absent(fmt::format("there is no blob {}", digest.ToString()));
  return Immutable(digest, false, FileTag(std::nullopt, digest));
}

absl::StatusOr<record::Result> StoreAnswers::ResultOf(const Digest& action_key) const {
  ASSIGN_OR_RETURN(const auto encoded,
                   store_.RecordedResults(std::span<const Digest>(&action_key, 1)));
  if (!encoded[0]) return NotFoundError("there is no record {}", action_key.ToString());
  return record::DecodeResult(*encoded[0]);
}

RecordAnswer StoreAnswers::FindRecord(const Digest& action_key) const {
  const absl::StatusOr<record::Result> result = ResultOf(action_key);
  if (!result.ok()) return RefusalOf(result.status());
  DeviceRecord record{.action_key = action_key, .error = result->error};
  if (result->log) record.log = result->log->ToString();
  for (const record::Output& output : result->outputs)
    record.outputs.push_back({output.suffix, output.digest, output.is_executable});
  return record;
}

DeviceAnswer StoreAnswers::FindRecordOutput(const Digest& action_key, const std::string& suffix,
                                            const Cancellation& stop) const {
  const absl::StatusOr<record::Result> result = ResultOf(action_key);
  if (!result.ok()) return RefusalOf(result.status());
  for (const record::Output& output : result->outputs) {
    if (output.suffix == suffix) return MakeOutput(action_key, output, stop);
  }
  return Absent(fmt::format("the record {} has no output \"{}\"", action_key.ToString(), suffix));
}

DeviceAnswer StoreAnswers::MakeOutput(const Digest& action_key, const record::Output& output,
                                      const Cancellation& stop) const {
  const DeviceFile file =
      Immutable(output.digest, output.is_executable, FileTag(action_key, output.digest));
  const absl::StatusOr<bool> is_there = Has(output.digest);
  if (!is_there.ok()) return RefusalOf(is_there.status());
  if (*is_there) return file;
  const absl::StatusOr<Remade> remade = remaker_.Remake(action_key, stop);
  if (!remade.ok()) return RefusalOf(remade.status());
  if (std::holds_alternative<RecordMade>(*remade)) return file;
  const std::string text = TextOf(*remade);
  if (!std::holds_alternative<RecordDiffers>(*remade)) return Gone(text);
  LogError("record={} was made again and differs: {}", action_key.ToString(), text);
  return DeviceRefusal{.kind = RefusalKind::kInfrastructure, .text = text, .cause = "unproven"};
}

}  // namespace galley::director

#include "common/store/reapi/server/reapi_results.h"

#include <algorithm>
#include <utility>

#include "build/bazel/remote/execution/v2/remote_execution.pb.h"
#include "common/base/errors.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "common/base/utf8.h"
#include "common/base/wire_format.h"
#include "common/record/observation.h"
#include "common/record/result.h"
#include "common/store/interface/action_result.h"
#include "common/store/reapi/server/error_details.h"
#include "common/tree/wire_fields.h"
#include "common/wire/digest_messages.h"
#include "fmt/format.h"

namespace galley::store {
namespace {

using tree::FieldTo;
namespace reapi = build::bazel::remote::execution::v2;

std::string EncodeSets(const std::vector<std::string>& sets) {
  WireWriter list;
  for (const std::string& set : sets) {
    if (list.bytes().size() + set.size() > kObservationSetsBytesMax) break;
    list.Element(1, set);
  }
  return list.Take();
}

std::string Worker(std::string_view name) {
  WireWriter metadata;
  metadata.Bytes(1, name);
  return metadata.Take();
}

// The result that stands for a weak key's sets.
std::string ResultOfSets(std::string_view list) {
  WireWriter file, result;
  file.Bytes(1, kObservationSetsPath);
  file.Element(2, tree::EncodeDigest(Digest::Of(list)));
  file.Bytes(5, list);
  result.Element(2, file.bytes());
  result.Element(9, Worker("galley"));
  return result.Take();
}

// GivenFile: an output file of a result, as far as it matters here.
struct GivenFile {
  std::string_view path;
  std::optional<Digest> digest;
  std::string_view contents;
};

// REQUIRES: ValidateActionResult took it.
absl::StatusOr<std::vector<GivenFile>> ReadFiles(std::string_view result) {
  std::vector<GivenFile> files;
  RETURN_IF_ERROR(tree::ForEachField(result, [&](const WireReader::Field& field) -> absl::Status {
    if (field.number != 2) return absl::OkStatus();
    GivenFile& file = files.emplace_back();
    return tree::ReadFields(field.bytes, FieldTo(1, "path", file.path),
                            FieldTo(2, "digest", file.digest),
                            FieldTo(5, "contents", file.contents));
  }));
  return files;
}

bool AreObservationSets(const std::vector<GivenFile>& files) {
  return files.size() == 1 && files[0].path == kObservationSetsPath && !files[0].contents.empty();
}

// Oldest first, as they are put. INVALID_ARGUMENT: one that no director could read.
absl::StatusOr<std::vector<std::string>> SetsIn(std::string_view list) {
  std::vector<std::string> sets;
  for (WireReader reader(list); !reader.AtEnd();) {
    ASSIGN_OR_RETURN(const WireReader::Field field, reader.Next());
    if (field.number != 1 || field.type != WireReader::Type::kBytes) continue;
    RETURN_IF_ERROR(Annotate(record::DecodeSet(field.bytes).status(), kObservationSetsPath));
    sets.emplace_back(field.bytes);
  }
  if (sets.size() > ActionCache::kSetsMax) sets.resize(ActionCache::kSetsMax);
  std::ranges::reverse(sets);
  return sets;
}

}  // namespace

absl::StatusOr<std::optional<std::string>> ReapiResults::FindNative(const Digest& action) {
  ASSIGN_OR_RETURN(const auto results, store_.Results(std::span(&action, 1)));
  if (!results.front().has_value()) return std::nullopt;
  ASSIGN_OR_RETURN(const record::Result result, record::DecodeResult(*results.front()));
  if (result.is_disputed) {
    return NotFoundError(
        "two different results were given for the action {}: neither is used, until its key is "
        "forgotten where the store is (galley store forget {})",
        action.ToString(), action.ToString());
  }
  if (result.is_verdict) return std::nullopt;
  return results.front();
}

absl::StatusOr<std::optional<std::string>> ReapiResults::FindSets(const Digest& weak_key) {
  ASSIGN_OR_RETURN(const auto sets, store_.ObservationSets(std::span(&weak_key, 1)));
  if (sets.front().empty()) return std::nullopt;
  const std::string list = EncodeSets(sets.front());
  // The reader of the result may ask for its file as for any other.
  RETURN_IF_ERROR(store_.Put(Digest::Of(list), list));
  return ResultOfSets(list);
}

absl::StatusOr<std::optional<std::string>> ReapiResults::Find(std::string_view instance,
                                                              const Digest& action) {
  if (options_.IsNative(instance)) {
    ASSIGN_OR_RETURN(std::optional<std::string> native, FindNative(action));
    if (!native.has_value()) {
      ASSIGN_OR_RETURN(native, FindSets(action));
    }
    if (native.has_value()) return native;
  }
  ASSIGN_OR_RETURN(auto foreign, store_.ActionResults(instance, std::span(&action, 1)));
  return std::move(foreign.front());
}

// Puts the files that are asked for into `result`; a file beyond the limit stays a digest, as the
// protocol allows.
absl::StatusOr<std::string> ReapiResults::WithInlined(std::string result,
                                                      const GetActionResultRequest& request) {
  if (!request.inline_stdout && !request.inline_stderr && request.inline_output_files.empty())
    return result;
  reapi::ActionResult message;
  if (!message.ParseFromString(result)) return result;  // what is no text in it cannot be told anew
  uint64_t left = options_.inline_bytes_max - std::min(options_.inline_bytes_max, result.size());
  const auto inlined = [&](const reapi::Digest& named, std::string& to) -> absl::Status {
    ASSIGN_OR_RETURN(const Digest digest, wire::HexDigestOf(named));
    if (!to.empty() || digest.size_bytes() > left) return absl::OkStatus();
    ASSIGN_OR_RETURN(const Blob blob, store_.Get(digest));
    to = *blob;
    left -= digest.size_bytes();
    return absl::OkStatus();
  };
  if (request.inline_stdout && message.has_stdout_digest())
    RETURN_IF_ERROR(inlined(message.stdout_digest(), *message.mutable_stdout_raw()));
  if (request.inline_stderr && message.has_stderr_digest())
    RETURN_IF_ERROR(inlined(message.stderr_digest(), *message.mutable_stderr_raw()));
  for (reapi::OutputFile& file : *message.mutable_output_files()) {
    const auto& asked = request.inline_output_files;
    if (std::ranges::find(asked, file.path()) != asked.end())
      RETURN_IF_ERROR(inlined(file.digest(), *file.mutable_contents()));
  }
  return message.SerializeAsString();
}

ReapiCore::Reply ReapiResults::GetActionResult(std::string_view request) {
  ASSIGN_OR_RETURN(const GetActionResultRequest asked, DecodeGetActionResult(request));
  RETURN_IF_ERROR(CheckInstance(options_, caller_, asked.instance));
  ASSIGN_OR_RETURN(std::optional<std::string> found, Find(asked.instance, asked.action));
  if (!found.has_value()) {
    return NotFoundError("there is no result for the action {}", asked.action.ToString());
  }
  absl::StatusOr<std::string> result = WithInlined(*std::move(found), asked);
  if (!result.ok()) return LossAsAbsence(result.status());
  if (result->size() > options_.reply_bytes_max) {
    return ResourceExhaustedError(
        "the result has {} bytes, more than a message holds: name many outputs as a directory",
        result->size());
  }
  // Some clients take an empty message for none.
  if (result->empty()) {
    WireWriter filled;
    filled.Element(9, Worker("galley"));
    *result = filled.Take();
  }
  return UnaryHandler::Answer{.reply = *std::move(result)};
}

absl::Status ReapiResults::CheckAllThere(std::string_view result) {
  const auto get = [&](const Digest& digest) -> absl::StatusOr<Blob> {
    absl::StatusOr<Blob> blob = store_.Get(digest);
    if (!blob.ok()) return LossAsAbsence(blob.status());
    return blob;
  };
  ASSIGN_OR_RETURN(const std::vector<Digest> named, NamedBlobs(result, get));
  ASSIGN_OR_RETURN(const std::vector<Digest> missing, store_.FindMissing(named));
  return missing.empty() ? absl::OkStatus() : MissingBlobsError("the result", missing);
}

// The domain stands in what the key is the digest of: the salt of an Action, and the trust domain
// of a weak key (record/recipe.h). Who may write one domain's results may not write another's.
absl::Status ReapiResults::CheckTrust(const Digest& key, bool is_weak_key) {
  if (caller_.trust.empty()) return absl::OkStatus();
  const absl::StatusOr<Blob> hashed = store_.Get(key);
  if (absl::IsNotFound(hashed.status()) || absl::IsDataLoss(hashed.status()))
    return MissingBlobsError("what the key is the digest of", std::span(&key, 1));
  RETURN_IF_ERROR(hashed.status());
  const uint32_t number = is_weak_key ? 6 : 9;
  std::string_view domain;
  for (WireReader reader(**hashed); !reader.AtEnd();) {
    ASSIGN_OR_RETURN(const WireReader::Field field, reader.Next());
    if (field.number == number) domain = field.bytes;
  }
  const std::vector<std::string>& allowed = caller_.trust;
  if (std::ranges::find(allowed, domain) != allowed.end()) return absl::OkStatus();
  return PermissionDeniedError("{} may not write results of the trust domain \"{}\"", caller_.name,
                               EscapeInvalidUtf8(domain));
}

absl::StatusOr<std::optional<std::string>> ReapiResults::CommitNative(const Digest& action,
                                                                      std::string_view result) {
  const absl::StatusOr<record::Result> decoded = record::DecodeResult(result);
  // A dispute is told so that the result that is here is used no more.
  if (!decoded.ok() || (decoded->is_verdict && !decoded->is_disputed)) return std::nullopt;
  const absl::Status committed =
      store_.Commit({.results = {{.action_key = action, .result = std::string(result)}}});
  if (!committed.ok() && !absl::IsAlreadyExists(committed)) return committed;
  if (committed.ok() || decoded->is_disputed) return std::string(result);
  LogWarning("reapi: a result of {} is not kept: {}", caller_.peer, MessageOf(committed));
  absl::StatusOr<std::optional<std::string>> stands = FindNative(action);
  return absl::IsNotFound(stands.status())
             ? absl::FailedPreconditionError(MessageOf(stands.status()))
             : std::move(stands);
}

ReapiCore::Reply ReapiResults::UpdateActionResult(std::string_view request) {
  ASSIGN_OR_RETURN(const UpdateActionResultRequest given, DecodeUpdateActionResult(request));
  RETURN_IF_ERROR(CheckInstance(options_, caller_, given.instance));
  RETURN_IF_ERROR(ValidateActionResult(given.result));
  ASSIGN_OR_RETURN(const std::vector<GivenFile> files, ReadFiles(given.result));
  RETURN_IF_ERROR(CheckTrust(given.action, AreObservationSets(files)));
  for (const GivenFile& file : files) {
    if (file.contents.empty()) continue;
    RETURN_IF_ERROR(
        Annotate(store_.Put(*file.digest, file.contents), fmt::format("output {}", file.path)));
  }
  RETURN_IF_ERROR(CheckAllThere(given.result));
  UnaryHandler::Answer answer{.reply = std::string(given.result), .commit = CommitBatch{}};
  if (options_.IsNative(given.instance) && AreObservationSets(files)) {
    ASSIGN_OR_RETURN(std::vector<std::string> sets, SetsIn(files[0].contents));
    for (std::string& set : sets) answer.commit->sets.push_back({given.action, std::move(set)});
    return answer;
  }
  if (options_.IsNative(given.instance)) {
    ASSIGN_OR_RETURN(const std::optional<std::string> stands,
                     CommitNative(given.action, given.result));
    if (stands.has_value()) return UnaryHandler::Answer{.reply = *stands};
  }
  answer.commit->action_results.push_back({.instance = std::string(given.instance),
                                           .action = given.action,
                                           .result = std::string(given.result),
                                           .peer = caller_.peer});
  return answer;
}

}  // namespace galley::store

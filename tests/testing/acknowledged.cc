#include "tests/testing/acknowledged.h"

#include <iterator>
#include <sstream>
#include <vector>

#include "common/base/status_macros.h"
#include "common/record/result.h"
#include "fmt/format.h"

namespace galley::store {
namespace {

using Words = std::vector<std::string>;

absl::Status Expect(bool is_right, const char* what) {
  return is_right ? absl::OkStatus() : absl::DataLossError(what);
}

absl::Status CheckBytes(std::string_view bytes, std::string_view digest) {
  return Expect(Digest::Of(bytes).ToString() == digest, "it has other bytes");
}

absl::Status CheckBlob(Store& store, const Words& words) {
  ASSIGN_OR_RETURN(const Digest digest, Digest::Parse(words.at(1)));
  ASSIGN_OR_RETURN(const std::vector<Digest> missing, store.FindMissing(std::span(&digest, 1)));
  if (!missing.empty()) return absl::NotFoundError("FindMissing says that it is missing");
  ASSIGN_OR_RETURN(const Blob blob, store.Get(digest));
  return CheckBytes(*blob, words.at(1));
}

// Checks a result and everything that it names.
absl::Status CheckResult(Store& store, const Words& words) {
  ASSIGN_OR_RETURN(const Digest key, Digest::Parse(words.at(1)));
  ASSIGN_OR_RETURN(const auto results, store.Results(std::span(&key, 1)));
  if (!results.at(0).has_value()) return absl::NotFoundError("there is none");
  RETURN_IF_ERROR(CheckBytes(*results[0], words.at(2)));
  ASSIGN_OR_RETURN(const record::Result result, record::DecodeResult(*results[0]));
  for (const record::Output& output : result.outputs) {
    const absl::StatusOr<Blob> blob = store.Get(output.digest);
    RETURN_IF_ERROR(Annotate(blob.status(), "output"));
    RETURN_IF_ERROR(CheckBytes(**blob, output.digest.ToString()));
  }
  return absl::OkStatus();
}

absl::Status CheckSet(Store& store, const Words& words) {
  ASSIGN_OR_RETURN(const Digest key, Digest::Parse(words.at(1)));
  ASSIGN_OR_RETURN(const auto sets, store.ObservationSets(std::span(&key, 1)));
  if (sets.at(0).empty()) return absl::NotFoundError("there is none");
  for (const std::string& set : sets[0]) RETURN_IF_ERROR(CheckBytes(set, words.at(2)));
  return absl::OkStatus();
}

absl::Status CheckForeign(Store& store, const Words& words) {
  ASSIGN_OR_RETURN(const Digest action, Digest::Parse(words.at(1)));
  ASSIGN_OR_RETURN(const auto results, store.ActionResults(kDriverInstance, std::span(&action, 1)));
  if (!results.at(0).has_value()) return absl::NotFoundError("there is none");
  return CheckBytes(*results[0], words.at(2));
}

absl::Status CheckRoot(Store& store, std::string_view line) {
  ASSIGN_OR_RETURN(const std::vector<PublishedRoot> roots, store.Roots(kDriverProject));
  for (const PublishedRoot& root : roots) {
    if (RootLine(root) == line) return absl::OkStatus();
  }
  return absl::NotFoundError("it is not among the roots");
}

}  // namespace

std::string BlobLine(const Digest& digest) { return fmt::format("blob {}", digest.ToString()); }

std::string ResultLine(const PutResult& put) {
  return fmt::format("result {} {}", put.action_key.ToString(), Digest::Of(put.result).ToString());
}

std::string SetLine(const PutResult& put) {
  return fmt::format("set {} {}", put.weak_key.ToString(),
                     Digest::Of(put.observation_set).ToString());
}

std::string ForeignLine(const PutActionResult& put) {
  return fmt::format("foreign {} {}", put.action.ToString(), Digest::Of(put.result).ToString());
}

std::string RootLine(const PublishedRoot& root) {
  return fmt::format("root {} {} {}", root.platform, root.sequence, root.root.ToString());
}

absl::Status CheckAcknowledged(Store& store, std::string_view line) {
  std::istringstream stream{std::string(line)};
  const Words words{std::istream_iterator<std::string>(stream), {}};
  if (words.size() < 2) return absl::InvalidArgumentError("no such line");
  absl::Status status = absl::InvalidArgumentError("no such line");
  if (words[0] == "blob") status = CheckBlob(store, words);
  if (words[0] == "result") status = CheckResult(store, words);
  if (words[0] == "set") status = CheckSet(store, words);
  if (words[0] == "foreign") status = CheckForeign(store, words);
  if (words[0] == "root") status = CheckRoot(store, line);
  return Annotate(status, line);
}

bool IsWrong(const absl::Status& status) {
  return absl::IsNotFound(status) || absl::IsDataLoss(status);
}

}  // namespace galley::store

// QuickSources: a Sources that hashes a file only if that takes little time. A larger file whose
// digest nobody knows yet is not hashed here, but noted as wanted, for FileHashing.
//
// Threads: one, for one run of look-ups.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/base/cancellation.h"
#include "director/shell/sources.h"

namespace galley::director {

// FilesStillHold for callers that may not wait for a large file: a file that nobody has hashed yet
// counts as changed, and the package is looked up again (LookUps has the file hashed).
bool FilesHoldQuickly(SourcesPtr sources, const StoredResult& stored, const Cancellation& stop);

// The files that could not be hashed, by path, and why.
using FailedHashes = std::map<std::string, absl::Status, std::less<>>;

class QuickSources final : public Sources {
 public:
  // Files with more bytes are hashed beside the look-ups: to hash this many bytes takes some 10 ms.
  static constexpr uint64_t kHashedMax = 16 << 20;

  struct Options {
    SourcesPtr sources;
    const Cancellation& stop;  // outlives QuickSources; once cancelled, no file is hashed
    uint64_t hashed_max = kHashedMax;
    FailedHashes failed = {};  // the answers for these files
  };
  explicit QuickSources(Options options) : options_(std::move(options)) {}

  // The requested files that are too large, in the order of the questions. The answer to
  // such a question was UNAVAILABLE.
  const std::vector<std::string>& wanted() const { return wanted_; }

  uint64_t number() const override { return options_.sources->number(); }
  PlatformsPtr platforms() const override { return options_.sources->platforms(); }
  RecipesPtr RecipesOf(std::string_view package, bool is_generated) const override {
    return options_.sources->RecipesOf(package, is_generated);
  }
  uint64_t SizeOf(std::string_view path) const override { return options_.sources->SizeOf(path); }
  absl::StatusOr<Digest> DigestOf(std::string_view path, const Cancellation* stop) const override;
  std::optional<Digest> KnownDigest(std::string_view path) const override {
    return options_.sources->KnownDigest(path);
  }
  absl::Status LearnDigest(std::string_view path, const Digest& digest) const override {
    return options_.sources->LearnDigest(path, digest);
  }
  absl::StatusOr<std::string> Look(const record::Observation& what,
                                   std::string_view package) const override;
  std::string StagePath(std::string_view package) const override {
    return options_.sources->StagePath(package);
  }

 private:
  absl::Status CheckQuick(std::string_view path) const;
  absl::Status HashIfLarge(std::string_view path) const;

  const Options options_;
  mutable std::vector<std::string> wanted_;
};

}  // namespace galley::director

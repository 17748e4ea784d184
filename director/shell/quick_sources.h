// QuickSources: a Sources that hashes only small files. A larger file without a known digest is not
// hashed, but listed in wanted(), for FileHashing.
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

// Returns FilesStillHold, for callers that may not wait for a large file: a large file without a
// known digest counts as changed, so that the package is looked up again (LookUps hashes the file).
bool FilesHoldQuickly(SourcesPtr sources, const StoredResult& stored, const Cancellation& stop);

// FailedHashes: the files that could not be hashed, with the errors, by path.
using FailedHashes = std::map<std::string, absl::Status, std::less<>>;

class QuickSources final : public Sources {
 public:
  // Larger files are hashed on other threads; this many bytes take some 10 ms.
  static constexpr uint64_t kHashedMax = 16 << 20;

  struct Options {
    SourcesPtr sources;
    const Cancellation& stop;  // outlives QuickSources; once cancelled, no file is hashed
    uint64_t hashed_max = kHashedMax;
    FailedHashes failed = {};  // questions about these files are answered by their errors
  };
  explicit QuickSources(Options options) : options_(std::move(options)) {}

  // The requested files that are too large, in the order of the questions, which were answered by
  // UNAVAILABLE.
  const std::vector<std::string>& wanted() const { return wanted_; }

  uint64_t number() const override { return options_.sources->number(); }
  PlatformsPtr platforms() const override { return options_.sources->platforms(); }
  RecipesPtr RecipesOf(std::string_view package, bool is_generated) const override {
    return options_.sources->RecipesOf(package, is_generated);
  }
  RecipesPtr RecipesAsListed(std::string_view package,
                             const record::Generated& generated) const override {
    return options_.sources->RecipesAsListed(package, generated);
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

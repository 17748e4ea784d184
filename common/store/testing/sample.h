// Small blobs, results and folders for tests of stores.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/file.h"
#include "common/base/wire_format.h"
#include "common/record/result.h"
#include "common/store/interface/store.h"
#include "gtest/gtest.h"

namespace galley::store {

// TemporaryFolder: a folder that is removed after the test.
class TemporaryFolder {
 public:
  TemporaryFolder() : path_(*MakeTemporaryDirectory(testing::TempDir(), "store-")) {}
  ~TemporaryFolder() { static_cast<void>(RemoveAll(path_)); }
  const std::string& path() const { return path_; }
  std::string In(std::string_view name) const { return JoinPath(path_, name); }

 private:
  const std::string path_;
};

// Makes a stored file writable, so that a test can damage it: the store's files are read-only.
inline void MakeWritable(const std::string& path) {
  std::filesystem::permissions(path, std::filesystem::perms::owner_write,
                               std::filesystem::perm_options::add);
}

// Returns a blob that every store keeps in a file of its own.
inline std::string LargeBytes(char fill, size_t size = 1'500'000) {
  return std::string(size, fill);
}

// Returns a result of `action` with one output.
inline PutResult SampleResult(std::string_view action, const Digest& output) {
  record::Result result;
  result.outputs.push_back({.suffix = ".out", .digest = output});
  result.provenance.weak_key = Digest::Of("weak " + std::string(action));
  return PutResult{.weak_key = result.provenance.weak_key,
                   .observation_set = "set of " + std::string(action),
                   .action_key = Digest::Of(action),
                   .result = record::EncodeResult(result)};
}

// Returns a verdict: the inputs of `action` are wrong.
inline PutResult SampleVerdict(std::string_view action) {
  PutResult put = SampleResult(action, Digest());
  record::Result verdict;
  verdict.is_verdict = true;
  put.result = record::EncodeResult(verdict);
  return put;
}

inline PublishedRoot SampleRoot(std::string_view platform, const Digest& root) {
  return PublishedRoot{.project_id = "project",
                       .platform = std::string(platform),
                       .root = root,
                       .by_the_book = true,
                       .time = absl::FromUnixSeconds(1'700'000'000),
                       .snapshot = Digest::Of("snapshot")};
}

inline Digest PutBytes(Store& store, std::string_view bytes) {
  const Digest digest = Digest::Of(bytes);
  EXPECT_TRUE(store.Put(digest, bytes).ok());
  return digest;
}

inline std::string GetBytes(BlobStore& store, const Digest& digest) {
  const absl::StatusOr<Blob> blob = store.Get(digest);
  return blob.ok() ? **blob : blob.status().ToString();
}

inline std::optional<std::string> ResultOf(ActionCache& cache, const Digest& action_key) {
  const auto results = cache.Results(std::span(&action_key, 1));
  EXPECT_TRUE(results.ok()) << results.status();
  return results.ok() ? results->front() : std::nullopt;
}

inline uint64_t EpochOf(Store& store) { return store.Info()->loss_epoch; }

// Returns a REAPI ActionResult with these output files.
inline std::string SampleActionResult(
    const std::vector<std::pair<std::string, Digest>>& output_files) {
  WireWriter result;
  for (const auto& [path, digest] : output_files) {
    WireWriter wire_digest, file;
    wire_digest.Bytes(1, digest.hex());
    wire_digest.Varint(2, digest.size_bytes());
    file.Bytes(1, path);
    file.Element(2, wire_digest.bytes());
    result.Element(2, file.bytes());
  }
  return result.Take();
}
inline absl::Status CommitActionResult(Store& store, std::string instance, const Digest& action,
                                       std::string result) {
  return store.Commit({.action_results = {{.instance = std::move(instance),
                                           .action = action,
                                           .result = std::move(result),
                                           .peer = "a test"}}});
}
inline std::optional<std::string> ActionResultOf(Store& store, std::string_view instance,
                                                 const Digest& action) {
  return store.ActionResults(instance, std::span(&action, 1))->front();
}

}  // namespace galley::store

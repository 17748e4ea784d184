// TreePages: handles REAPI's GetTree, page by page: sends the Directories of a tree, breadth first,
// each once, as the stored bytes. Directories that are missing or malformed are left out, except
// the root.
//
// A page holds at most page_size Directories and about 1 MiB. Its token says how many came before
// the next page; a request with a token walks the tree from the root again, so the server keeps no
// state.
// Memory: a digest for each Directory.
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>

#include "absl/status/statusor.h"
#include "common/store/reapi/server/reapi_core.h"
#include "common/store/reapi/server/requests.h"

namespace galley::store {

inline constexpr size_t kTreePageBytesMax = 1 << 20;
inline constexpr size_t kTreeDirectoriesMax = 1'000'000;

class TreePages final : public CallHandler {
 public:
  // `store` must outlive the handler.
  TreePages(BlobStore& store, const ReapiOptions& options, const Caller& caller)
      : store_(store), options_(options), caller_(caller) {}

  // Every step returns one GetTreeResponse. NOT_FOUND: the root is missing. INVALID_ARGUMENT: the
  // root is no Directory, or the token is of another tree. RESOURCE_EXHAUSTED: more than
  // kTreeDirectoriesMax.
  Step OnMessage(std::string_view request) override;
  Step OnContinue() override;

 private:
  absl::Status Begin(std::string_view request);
  // Returns the next Directory's bytes; nullptr: the end.
  absl::StatusOr<Blob> Next();
  absl::StatusOr<Step> Page();
  std::string Token() const;

  BlobStore& store_;
  const ReapiOptions options_;
  const Caller caller_;
  Digest root_;
  size_t page_size_ = 0;
  size_t passed_ = 0;  // Directories that Next returned
  Blob held_;          // returned by Next, but not sent: the page was full
  std::deque<Digest> left_;
  std::unordered_set<Digest, DigestHash> seen_;
};

}  // namespace galley::store

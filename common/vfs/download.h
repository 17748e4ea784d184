// Download: one answer whose body is on its way into the cache, or whose body says why there is
// none.
//
// Threads: none.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "common/vfs/blob_cache.h"
#include "common/vfs/blob_id.h"
#include "common/vfs/http_client.h"
#include "common/vfs/response_parser.h"
#include "common/vfs/result.h"

namespace galley::vfs {

class Download {
 public:
  // `cache` outlives this object.
  explicit Download(BlobCache& cache) : cache_(cache) {}

  // The answer is to be this blob. Goes on with the part that is there. Faults as
  // BlobCache::BeginPart.
  Outcome Begin(const BlobId& blob);
  // How many bytes are there.
  uint64_t have() const { return part_->size(); }
  // The body is the blob from this byte on, which is 0 or have().
  void BeginBodyAt(uint64_t offset) { skips_ = have() - offset; }

  const ResponseHead& head() const { return head_; }
  void SetHead(const ResponseHead& head) { head_ = head; }
  // GALLEY_VFS_DAMAGED: more bytes come than the blob has.
  Outcome TakeBody(std::string_view bytes);
  // The body of an answer without a file, as far as it is kept.
  const std::string& problem() const { return problem_; }

  // The answer is this blob, which need not be fetched.
  void SetBlob(const BlobId& blob) { blob_ = blob; }
  // Lets the part go; what it has stays.
  void Release() { part_.reset(); }

  bool has_begun() const { return part_ != nullptr; }
  const BlobId& blob() const { return blob_; }
  // Faults as BlobCache::Finish.
  Outcome Finish() { return cache_.Finish(*part_); }
  void Drop() { cache_.Drop(*part_); }

 private:
  BlobCache& cache_;
  BlobId blob_;
  std::unique_ptr<BlobPart> part_;  // nullptr: the answer has no file
  uint64_t skips_ = 0;              // bytes of the body that are there
  ResponseHead head_;
  std::string problem_;
};

}  // namespace galley::vfs

// VerifiedFile: a large blob as a body: the open file of a store, which was read once and has the
// blob's bytes.
//
// The bytes are believed as long as the file is the one that was read: inode, size and time of the
// last change are as they were, the store's path still leads to it, and the store has lost nothing
// since (StoreInfo::loss_epoch). A file that was removed from the store keeps its bytes as long as
// this object lives.
// Threads: any.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/digest.h"
#include "common/base/file.h"
#include "director/serve/http/http_answer.h"

namespace galley::director {

class VerifiedFile final : public HttpBlobSource {
 public:
  // Reads the whole file. DATA_LOSS: its bytes are not those of the digest, or it is gone. Others:
  // it cannot be opened or read. Blocks.
  static absl::StatusOr<std::shared_ptr<VerifiedFile>> Open(const std::string& path,
                                                            const Digest& digest,
                                                            uint64_t loss_epoch);

  // Whether the bytes may be believed still. Cost: two stats.
  bool Stands(uint64_t loss_epoch) const { return loss_epoch == loss_epoch_ && IsTheSame(); }
  // Whether the store's path leads to this file, which nobody has changed.
  bool IsTheSame() const;

  const Digest& digest() const { return digest_; }
  uint64_t size_bytes() const override { return digest_.size_bytes(); }
  absl::Status ReadAt(uint64_t offset, std::span<char> bytes) override;
  std::optional<File> file() const override { return File{.descriptor = file_.get()}; }

 private:
  VerifiedFile(std::string path, FileDescriptor file, const FileStat& stat, const Digest& digest,
               uint64_t loss_epoch)
      : path_(std::move(path)),
        file_(std::move(file)),
        stat_(stat),
        digest_(digest),
        loss_epoch_(loss_epoch) {}

  const std::string path_;
  const FileDescriptor file_;
  const FileStat stat_;
  const Digest digest_;
  const uint64_t loss_epoch_;
};

}  // namespace galley::director

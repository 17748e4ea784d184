// PatchReader: reads an untrusted patch: the whole patch is verified before any of it is returned.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/digest.h"
#include "common/base/file.h"
#include "director/stage/patch_format.h"

namespace galley::director {

class PatchReader {
 public:
  // Reads and verifies the patch from start to end. NOT_FOUND, PERMISSION_DENIED: `path`.
  // DATA_LOSS: the file is no patch, or not whole. CANCELLED: `interrupted` became true.
  static absl::StatusOr<PatchReader> Open(const std::string& path,
                                          const std::atomic<bool>* interrupted = nullptr);

  const PatchIndex& index() const { return index_; }
  // The hash and size of the patch.
  const Digest& digest() const { return digest_; }

  using Sink = std::function<absl::Status(std::string_view)>;
  // Gives these bytes of the literals to `sink`, in pieces. Cheap if called with rising offsets,
  // because the last frame is kept. DATA_LOSS: the file was changed since Open.
  absl::Status ReadLiteral(uint64_t offset, uint64_t size_bytes, const Sink& sink);

 private:
  PatchReader(FileDescriptor file, std::string path)
      : file_(std::move(file)), path_(std::move(path)) {}
  absl::Status Verify(const std::atomic<bool>* interrupted);
  absl::Status ReadIndex(uint64_t file_bytes);
  absl::StatusOr<std::string> ReadAt(uint64_t offset, uint64_t size_bytes) const;
  absl::Status LoadFrame(size_t frame);
  absl::Status Damaged(std::string_view why) const;

  FileDescriptor file_;
  std::string path_;
  PatchTrailer trailer_;
  PatchIndex index_;
  Digest digest_;
  // The start of each frame, in the literals and in the file.
  std::vector<uint64_t> literal_begins_, file_begins_;
  size_t loaded_ = SIZE_MAX;
  std::string frame_;  // unpacked frame `loaded_`
};

}  // namespace galley::director

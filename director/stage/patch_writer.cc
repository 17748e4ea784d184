#include "director/stage/patch_writer.h"

#include <algorithm>
#include <utility>

#include "common/base/status_macros.h"
#include "common/base/zstd_stream.h"

namespace galley::director {
namespace {

// A patch is made once and sent often.
constexpr int kLevel = 9;

}  // namespace

PatchWriter::PatchWriter(int file, std::string path) : file_(file), path_(std::move(path)) {}

absl::Status PatchWriter::Write(std::string_view bytes) {
  hash_.Add(bytes);
  bytes_written_ += bytes.size();
  return WriteAll(file_, bytes, path_);
}

absl::Status PatchWriter::AddLiteral(std::string_view bytes) {
  literal_bytes_ += bytes.size();
  while (!bytes.empty()) {
    const size_t size = std::min<size_t>(bytes.size(), kLiteralFrameBytesMax - pending_.size());
    pending_.append(bytes.substr(0, size));
    bytes.remove_prefix(size);
    if (pending_.size() == kLiteralFrameBytesMax) RETURN_IF_ERROR(WriteFrame());
  }
  return absl::OkStatus();
}

absl::Status PatchWriter::WriteFrame() {
  if (bytes_written_ == 0) RETURN_IF_ERROR(Write(EncodePatchHeader()));
  if (pending_.empty()) return absl::OkStatus();
  const std::string packed = ZstdCompress(pending_, kLevel);
  frames_.push_back({packed.size(), pending_.size()});
  pending_.clear();
  return Write(packed);
}

absl::Status PatchWriter::Finish(PatchIndex index) {
  RETURN_IF_ERROR(WriteFrame());
  index.frames = std::move(frames_);
  const std::string bytes = EncodePatchIndex(index);
  const std::string packed = ZstdCompress(bytes, kLevel);
  RETURN_IF_ERROR(Write(packed));
  RETURN_IF_ERROR(
      Write(EncodePatchSizes({.index_packed_bytes = packed.size(), .index_bytes = bytes.size()})));
  const Digest digest = hash_.Finish();
  bytes_written_ += digest.hash().size();
  return WriteAll(file_, digest.hash(), path_);
}

}  // namespace galley::director

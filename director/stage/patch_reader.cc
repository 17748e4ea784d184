#include "director/stage/patch_reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "common/base/errors.h"
#include "common/base/status_macros.h"
#include "common/base/zstd_stream.h"
#include "director/stage/plan.h"

namespace galley::director {
namespace {

constexpr uint64_t kReadBytes = 1 << 20;
// An index that packs better than this is not ours: half of an index is hashes.
constexpr uint64_t kIndexRatioMax = 1000;

}  // namespace

absl::StatusOr<PatchReader> PatchReader::Open(const std::string& path,
                                              const std::atomic<bool>* interrupted) {
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.valid()) return ErrnoStatus(errno, "open", path);
  ASSIGN_OR_RETURN(const FileStat stat, StatDescriptor(file.get(), path));
  if (!S_ISREG(stat.mode)) return FailedPreconditionError("{} is not a regular file", path);
  PatchReader reader(std::move(file), path);
  RETURN_IF_ERROR(reader.Verify(interrupted));
  return reader;
}

absl::Status PatchReader::Damaged(std::string_view why) const {
  return DataLossError("{} cannot be used, {}; fetch it again, or make it anew", path_, why);
}

absl::StatusOr<std::string> PatchReader::ReadAt(uint64_t offset, uint64_t size_bytes) const {
  std::string bytes(size_bytes, '\0');
  size_t size = 0;
  while (size < bytes.size()) {
    const ssize_t count = ::pread(file_.get(), bytes.data() + size, bytes.size() - size,
                                  static_cast<off_t>(offset + size));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return ErrnoStatus(errno, "read", path_);
    if (count == 0) return Damaged("it became shorter while it was read");
    size += static_cast<size_t>(count);
  }
  return bytes;
}

absl::Status PatchReader::Verify(const std::atomic<bool>* interrupted) {
  ASSIGN_OR_RETURN(const FileStat stat, StatDescriptor(file_.get(), path_));
  const uint64_t file_bytes = stat.size_bytes;
  ASSIGN_OR_RETURN(const std::string head,
                   ReadAt(0, std::min<uint64_t>(file_bytes, kPatchHeaderBytes)));
  if (const absl::Status status = CheckPatchHeader(head); !status.ok())
    return Damaged(MessageOf(status));
  const uint64_t tail_bytes = std::min<uint64_t>(file_bytes, kPatchTrailerBytes);
  ASSIGN_OR_RETURN(const std::string tail, ReadAt(file_bytes - tail_bytes, tail_bytes));
  absl::StatusOr<PatchTrailer> trailer = DecodePatchTrailer(tail, file_bytes);
  if (!trailer.ok()) return Damaged(MessageOf(trailer.status()));
  trailer_ = *std::move(trailer);
  DigestBuilder builder;
  const uint64_t end = file_bytes - trailer_.hash.size();
  for (uint64_t at = 0; at < end; at += kReadBytes) {
    RETURN_IF_ERROR(CheckInterrupted(interrupted));
    ASSIGN_OR_RETURN(const std::string bytes, ReadAt(at, std::min(kReadBytes, end - at)));
    builder.Add(bytes);
  }
  digest_ = builder.Finish();
  if (digest_.hash() != trailer_.hash) return Damaged("its bytes are not those that were written");
  return ReadIndex(file_bytes);
}

absl::Status PatchReader::ReadIndex(uint64_t file_bytes) {
  if (trailer_.index_bytes / kIndexRatioMax > trailer_.index_packed_bytes)
    return Damaged("its index is no index");
  const uint64_t begin = file_bytes - kPatchTrailerBytes - trailer_.index_packed_bytes;
  ASSIGN_OR_RETURN(const std::string packed, ReadAt(begin, trailer_.index_packed_bytes));
  const absl::StatusOr<std::string> bytes = ZstdDecompress(packed, trailer_.index_bytes);
  if (!bytes.ok()) return Damaged(MessageOf(bytes.status()));
  if (bytes->size() != trailer_.index_bytes) return Damaged("its index is too short");
  absl::StatusOr<PatchIndex> index = DecodePatchIndex(*bytes);
  if (!index.ok()) return Damaged(MessageOf(index.status()));
  index_ = *std::move(index);
  uint64_t literal = 0, at = kPatchHeaderBytes;
  for (const LiteralFrame& frame : index_.frames) {
    literal_begins_.push_back(literal);
    file_begins_.push_back(at);
    literal += frame.size_bytes;
    at += frame.packed_bytes;
  }
  if (at != begin) return Damaged("its frames do not fill it");
  return absl::OkStatus();
}

absl::Status PatchReader::LoadFrame(size_t frame) {
  if (frame == loaded_) return absl::OkStatus();
  loaded_ = SIZE_MAX;
  const LiteralFrame& sizes = index_.frames[frame];
  ASSIGN_OR_RETURN(const std::string packed, ReadAt(file_begins_[frame], sizes.packed_bytes));
  absl::StatusOr<std::string> bytes = ZstdDecompress(packed, sizes.size_bytes);
  if (!bytes.ok()) return Damaged(MessageOf(bytes.status()));
  if (bytes->size() != sizes.size_bytes) return Damaged("a frame is too short");
  frame_ = *std::move(bytes);
  loaded_ = frame;
  return absl::OkStatus();
}

absl::Status PatchReader::ReadLiteral(uint64_t offset, uint64_t size_bytes, const Sink& sink) {
  while (size_bytes > 0) {
    const auto after = std::upper_bound(literal_begins_.begin(), literal_begins_.end(), offset);
    GALLEY_CHECK(after != literal_begins_.begin());  // the recipes were checked
    const auto frame = static_cast<size_t>(after - literal_begins_.begin()) - 1;
    RETURN_IF_ERROR(LoadFrame(frame));
    const uint64_t skipped = offset - literal_begins_[frame];
    const uint64_t size = std::min<uint64_t>(size_bytes, frame_.size() - skipped);
    RETURN_IF_ERROR(sink(std::string_view(frame_).substr(skipped, size)));
    offset += size;
    size_bytes -= size;
  }
  return absl::OkStatus();
}

}  // namespace galley::director

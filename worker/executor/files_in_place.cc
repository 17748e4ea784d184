#include "worker/executor/files_in_place.h"

#include "absl/time/clock.h"
#include "common/base/errors.h"
#include "common/base/racy.h"
#include "common/base/status_macros.h"
#include "common/store/local/blob_file.h"
#include "common/store/local/segment_writer.h"

namespace galley::worker {
namespace {

absl::Status Unreadable(const Digest& digest, const absl::Status& why) {
  return UnavailableError("blob {} cannot be read: {}", digest.ToString(), MessageOf(why));
}

}  // namespace

absl::StatusOr<Digest> FilesInPlace::DigestOf(const std::string& path) {
  return snapshot_.DigestOf(path);
}

absl::StatusOr<content::Snapshot::Content> FilesInPlace::Read(const std::string& path,
                                                              uint64_t size_bytes_max) {
  return snapshot_.Read(path, size_bytes_max);
}

absl::StatusOr<Digest> FilesInPlace::Stream(const std::string& path, const TakePiece& take) {
  if (snapshot_.Find(path) == nullptr) return AbortedError("{} is gone", path);
  absl::Status taken;
  absl::StatusOr<Digest> digest = snapshot_.Stream(path, [&](std::string_view piece) {
    if (taken.ok()) taken = take(piece);
  });
  if (digest.ok() && !taken.ok()) return taken;
  return digest;
}

absl::Status FilesInPlace::CheckUnchanged(const std::string& path, const Digest& digest) {
  const content::FileEntry* entry = snapshot_.Find(path);
  const absl::Status stale = AbortedError("{} changed", path);
  if (entry == nullptr) return stale;
  const absl::StatusOr<FileStat> now = StatFile(entry->host_path);
  if (absl::IsNotFound(now.status())) return stale;
  if (!now.ok()) return now.status();
  if (*now != entry->stat) return stale;
  // A young file may have changed again within the same tick of its times: its bytes are
  // compared.
  if (!IsRacy(*now, absl::GetCurrentTimeNanos())) return absl::OkStatus();
  ASSIGN_OR_RETURN(const Digest read,
                   Stream(path, [](std::string_view) { return absl::OkStatus(); }));
  return read == digest ? absl::OkStatus() : stale;
}

absl::StatusOr<Blob> FilesInPlace::ReadBlob(const Digest& digest) {
  const auto location = blobs_.find(digest);
  if (location == blobs_.end()) {
    return UnavailableError("the director did not say where blob {} lies", digest.ToString());
  }
  absl::StatusOr<Blob> bytes = store::ReadBlobAt(store_directory_, digest, location->second);
  return bytes.ok() ? bytes : Unreadable(digest, bytes.status());
}

absl::Status FilesInPlace::StreamBlob(const Digest& digest, const TakePiece& take) {
  const auto reader = store::NewBlobFileReader(store_directory_, digest, 0);
  if (!reader.ok()) return Unreadable(digest, reader.status());
  while (true) {
    const absl::StatusOr<std::string_view> piece = (*reader)->Next(kPieceBytesMax);
    if (!piece.ok()) return Unreadable(digest, piece.status());
    if (piece->empty()) return absl::OkStatus();
    RETURN_IF_ERROR(take(*piece));
  }
}

}  // namespace galley::worker

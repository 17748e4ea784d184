#include "common/store/local/puts.h"

#include <utility>

#include "common/base/errors.h"
#include "common/base/status_macros.h"
#include "common/store/local/blob_file.h"
#include "common/store/local/disk.h"
#include "common/store/local/open.h"
#include "common/store/local/segment_format.h"

namespace galley::store {
namespace {

absl::Status CheckBytes(const BlobView& blob) {
  if (Digest::Of(blob.bytes) == blob.digest) return absl::OkStatus();
  return InvalidArgumentError("blob {}: the {} bytes given are not those of this digest",
                              blob.digest.ToString(), blob.bytes.size());
}

}  // namespace

absl::Status Puts::Put(const Digest& digest, std::string_view bytes) {
  const BlobView blob{.digest = digest, .bytes = bytes};
  return std::move(PutMany(std::span(&blob, 1)).front());
}

// Work that costs the same for one blob and for many is done once: a question to the index, a look
// at the disk's free space, a lock.
std::vector<absl::Status> Puts::PutMany(std::span<const BlobView> blobs) {
  std::vector<absl::Status> outcomes(blobs.size());
  std::vector<size_t> right;  // of `blobs`
  std::vector<Digest> digests;
  for (size_t i = 0; i < blobs.size(); ++i) {
    outcomes[i] = CheckBytes(blobs[i]);
    if (!outcomes[i].ok()) continue;
    right.push_back(i);
    digests.push_back(blobs[i].digest);
  }
  const auto found = reader_.Locate(digests);
  Disk disk(state_.folder.directory);
  std::vector<size_t> small;
  std::vector<BlobView> views;
  for (size_t at = 0; at < right.size(); ++at) {
    const BlobView& blob = blobs[right[at]];
    if (!found.ok()) {
      outcomes[right[at]] = found.status();
    } else if ((*found)[at].has_value() && disk.Has(blob.digest, *(*found)[at]).value_or(true)) {
      continue;
    } else if (blob.bytes.size() > kSmallBlobBytesMax) {
      outcomes[right[at]] = PutFile(blob);
    } else {
      small.push_back(right[at]);
      views.push_back(blob);
    }
  }
  if (small.empty()) return outcomes;
  const absl::Status status = PutSmall(views);
  for (const size_t i : small) outcomes[i] = status;
  return outcomes;
}

absl::Status Puts::PutFile(const BlobView& blob) {
  RETURN_IF_ERROR(state_.folder.CheckSpace(RecordSpan(blob.bytes.size())));
  RETURN_IF_ERROR(WriteBlobFile(state_.folder.directory, blob.digest, blob.bytes));
  return NoteFile(blob.digest);
}

// An error: some of them may be pending all the same.
absl::Status Puts::PutSmall(std::span<const BlobView> blobs) {
  uint64_t bytes = 0;
  std::vector<Digest> digests;
  for (const BlobView& blob : blobs) {
    bytes += RecordSpan(blob.bytes.size());
    digests.push_back(blob.digest);
  }
  RETURN_IF_ERROR(state_.folder.CheckSpace(bytes));
  RETURN_IF_ERROR(state_.log.PutBlobs(blobs));
  state_.reported_present.Tell(digests);
  return CommitIfMany();
}

absl::StatusOr<std::unique_ptr<BlobWriter>> Puts::NewFileWriter(const Digest& digest) {
  RETURN_IF_ERROR(state_.folder.CheckSpace(digest.size_bytes()));
  return NewBlobFileWriter(state_.folder.directory, digest,
                           [this, digest] { return NoteFile(digest); });
}

absl::Status Puts::NoteFile(const Digest& digest) {
  ASSIGN_OR_RETURN(const auto found, reader_.Locate(std::span(&digest, 1)));
  if (found[0].has_value()) return absl::OkStatus();
  state_.log.PutFile(digest);
  state_.reported_present.Tell(std::span(&digest, 1));
  return CommitIfMany();
}

absl::Status Puts::CommitIfMany() {
  return state_.log.HasTooManyPending() ? commits_.Commit({}) : absl::OkStatus();
}

}  // namespace galley::store

#include "worker/session/segment_pool.h"

#include <chrono>
#include <utility>

#include "common/base/errors.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "common/store/local/layout.h"
#include "common/store/local/open.h"
#include "fmt/format.h"

namespace galley::worker {

SegmentPool::SegmentPool(absl::Duration wait_max, Starved starved, KnownBlobs::Ask ask)
    : wait_max_(wait_max), starved_(std::move(starved)), known_(std::move(ask)) {}

void SegmentPool::SetStore(const std::string& directory, uint64_t term) {
  base::MutexLock lock(mutex_);
  if (directory != directory_ || term != term_) {
    known_.Forget();
    seen_there_.clear();
  }
  term_ = term;
  if (directory == directory_) return;
  directory_ = directory;
  writer_.reset();
  free_.clear();
  seen_.clear();
  unusable_.clear();
}

void SegmentPool::Give(std::span<const uint64_t> segments) {
  base::MutexLock lock(mutex_);
  for (const uint64_t segment : segments) {
    if (seen_.insert(segment).second) free_.push_back(segment);
  }
  if (!free_.empty()) unusable_.clear();
  changed_.NotifyAll();
}

void SegmentPool::Close() {
  base::MutexLock lock(mutex_);
  is_closed_ = true;
  changed_.NotifyAll();
}

absl::Status SegmentPool::OpenNext() {
  if (is_closed_) return absl::UnavailableError("the session ends");
  if (writer_ != nullptr && writer_->size_bytes() > store::SegmentWriter::kSegmentBytesMax)
    writer_.reset();
  if (writer_ != nullptr && !writer_->is_linked()) {
    unusable_ = "the segment that was being filled was deleted";
    LogWarning("{}", unusable_);
    writer_.reset();
  }
  while (writer_ == nullptr) {
    if (free_.empty()) return absl::NotFoundError("no segment");
    const uint64_t segment = free_.front();
    free_.pop_front();
    auto opened = store::SegmentWriter::Open(directory_, segment);
    if (opened.ok()) {
      writer_ = *std::move(opened);
    } else if (free_.empty()) {
      unusable_ = fmt::format("segment {}: {}", segment, MessageOf(opened.status()));
      return absl::FailedPreconditionError(unusable_);
    } else {
      LogWarning("segment={} cannot be opened: {}", segment, MessageOf(opened.status()));
    }
  }
  return absl::OkStatus();
}

absl::Status SegmentPool::Open(std::chrono::steady_clock::time_point deadline) {
  while (true) {
    const absl::Status opened = OpenNext();
    if (opened.code() != absl::StatusCode::kNotFound) return opened;
    const auto left = deadline - std::chrono::steady_clock::now();
    if (left <= left.zero()) {
      return UnavailableError("the director gave no segment within {} s",
                              absl::ToInt64Seconds(wait_max_));
    }
    changed_.WaitFor(mutex_, left);
  }
}

absl::StatusOr<wire::BlobAt> SegmentPool::Append(std::string_view bytes) {
  const Digest digest = Digest::Of(bytes);
  if (bytes.size() > store::kSmallBlobBytesMax) {  // the name of the blob's file tells its place
    RETURN_IF_ERROR(store::WriteBlobFile(Directory(), digest, bytes));
    return wire::BlobAt{.digest = digest, .location = {}};
  }
  const auto known = known_.Find(digest);
  if (known.has_value() && IsThere(digest, *known))
    return wire::BlobAt{.digest = digest, .location = *known};
  const auto deadline = std::chrono::steady_clock::now() + absl::ToChronoNanoseconds(wait_max_);
  absl::Status opened;
  std::string unusable;
  {
    const base::MutexLock lock(mutex_);
    opened = OpenNext();
    unusable = unusable_;
  }
  // Called without the lock: the callback may wait for Give's caller.
  if (!opened.ok() && starved_ != nullptr) starved_(unusable);
  const base::MutexLock lock(mutex_);
  RETURN_IF_ERROR(Open(deadline));
  absl::StatusOr<wire::BlobAt> written = AppendTo(digest, bytes);
  if (written.ok()) {
    known_.Add(digest, written->location);
    return written;
  }
  // On a full disk another segment would not help.
  if (!absl::IsResourceExhausted(written.status())) {
    unusable_ = MessageOf(written.status());
    writer_.reset();
  }
  return written.status();
}

// Whether the known copy can be read: it may have been damaged since, or its segment may be gone.
// Read at most once a second, since a thousand shaders may share a reflection.
bool SegmentPool::IsThere(const Digest& digest, const store::BlobLocation& location) {
  const auto now = std::chrono::steady_clock::now();
  {
    const base::MutexLock lock(mutex_);
    const auto found = seen_there_.find(digest);
    if (found != seen_there_.end() && now - found->second < kThereFor) return true;
  }
  if (!store::ReadBlobAt(Directory(), digest, location).ok()) return false;
  const base::MutexLock lock(mutex_);
  if (seen_there_.size() >= kSeenThereMax) seen_there_.clear();
  seen_there_[digest] = now;
  return true;
}

std::string SegmentPool::Directory() {
  const base::MutexLock lock(mutex_);
  return directory_;
}

absl::StatusOr<wire::BlobAt> SegmentPool::AppendTo(const Digest& digest, std::string_view bytes) {
  // Not checked for each blob: on some file systems the check is a round trip, and everybody waits
  // here.
  if (bytes.size() >= unchecked_bytes_) {
    RETURN_IF_ERROR(
        store::CheckFreeSpace(directory_, bytes.size() + kUncheckedBytes, store::kFreeBytesMargin));
    unchecked_bytes_ = bytes.size() + kUncheckedBytes;
  }
  unchecked_bytes_ -= bytes.size();
  const store::BlobView blob{.digest = digest, .bytes = bytes};
  ASSIGN_OR_RETURN(const auto locations, writer_->AppendHashed(std::span(&blob, 1)));
  return wire::BlobAt{.digest = digest, .location = locations.front()};
}

absl::StatusOr<store::HashedFile> SegmentPool::CreateFile() {
  return store::HashedFile::Create(Directory());
}

}  // namespace galley::worker

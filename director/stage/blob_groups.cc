#include "director/stage/blob_groups.h"

#include <system_error>

#include "common/base/status_macros.h"
#include "common/store/local/blob_file.h"
#include "common/store/local/layout.h"
#include "common/store/local/open.h"

namespace galley::director {

BlobGroups::BlobGroups(store::Store& store, std::string store_directory, const Options& options)
    : store_(store), store_directory_(std::move(store_directory)), options_(options) {
  try {
    thread_ = std::thread([this] { Work(); });
  } catch (const std::system_error&) {
    // The system gives no further thread.
  }
}

BlobGroups::~BlobGroups() {
  {
    const base::MutexLock lock(mutex_);
    is_ending_ = true;
    changed_.NotifyAll();
  }
  if (thread_.joinable()) thread_.join();
}

absl::Status BlobGroups::CheckSpace(uint64_t bytes) const {
  return store::CheckFreeSpace(store_directory_, bytes, options_.free_bytes_margin);
}

bool BlobGroups::Claim(const Digest& digest) {
  const base::MutexLock lock(claimed_mutex_);
  return claimed_.insert(digest).second;
}

void BlobGroups::CommitGroup() {
  store::CommitBatch batch;
  batch.blobs = std::exchange(group_, {});
  group_bytes_ = 0;
  is_committing_ = true;
  mutex_.unlock();
  const absl::Status status = store_.Commit(batch);
  mutex_.lock();
  is_committing_ = false;
  if (status_.ok()) status_ = status;
  changed_.NotifyAll();
}

void BlobGroups::Work() {
  const base::MutexLock lock(mutex_);
  while (true) {
    while (!is_ending_ && !IsFull()) changed_.Wait(mutex_);
    if (is_ending_) return;
    CommitGroup();
  }
}

absl::Status BlobGroups::Add(const Digest& digest, const store::BlobLocation& location) {
  ++blobs_;
  bytes_ += digest.size_bytes();
  const base::MutexLock lock(mutex_);
  while (thread_.joinable() && IsFull() && status_.ok()) changed_.Wait(mutex_);
  RETURN_IF_ERROR(status_);
  group_.emplace_back(digest, location);
  group_bytes_ += digest.size_bytes();
  if (!IsFull()) return absl::OkStatus();
  if (thread_.joinable()) {
    changed_.NotifyAll();
  } else {
    CommitGroup();
  }
  return status_;
}

absl::Status BlobGroups::Flush() {
  const base::MutexLock lock(mutex_);
  while (is_committing_) changed_.Wait(mutex_);
  RETURN_IF_ERROR(status_);
  CommitGroup();
  return status_;
}

std::string& BlobLane::Begin() {
  bytes_.resize(end_);
  return bytes_;
}

absl::StatusOr<Digest> BlobLane::Take() {
  const std::string_view bytes = std::string_view(bytes_).substr(end_);
  const Digest digest = Digest::Of(bytes);
  if (bytes.empty() || !groups_.Claim(digest)) {
    bytes_.resize(end_);
    return digest;
  }
  held_.push_back({.digest = digest, .begin = end_, .size = bytes.size()});
  end_ = bytes_.size();
  if (end_ >= kGatherBytes || held_.size() >= kGatherBlobs) RETURN_IF_ERROR(Flush());
  return digest;
}

absl::Status BlobLane::PutSmall(std::string_view bytes) {
  Begin().append(bytes);
  return Take().status();
}

absl::Status BlobLane::PutLarge(const Digest& digest, std::string_view bytes) {
  if (!groups_.Claim(digest)) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::vector<Digest> missing,
                   groups_.store().FindMissing(std::span(&digest, 1)));
  if (missing.empty()) return absl::OkStatus();
  RETURN_IF_ERROR(groups_.CheckSpace(bytes.size()));
  RETURN_IF_ERROR(store::WriteBlobFile(groups_.store_directory(), digest, bytes));
  return groups_.Add(digest, store::BlobLocation());
}

absl::Status BlobLane::OpenSegment() {
  if (writer_ != nullptr && writer_->size_bytes() <= store::SegmentWriter::kSegmentBytesMax)
    return absl::OkStatus();
  writer_.reset();
  ASSIGN_OR_RETURN(const uint64_t segment, groups_.store().AllocateSegment());
  ASSIGN_OR_RETURN(writer_, store::SegmentWriter::Open(groups_.store_directory(), segment));
  return absl::OkStatus();
}

absl::Status BlobLane::Flush() {
  if (held_.empty()) return absl::OkStatus();
  std::vector<Digest> digests;
  for (const Held& held : held_) digests.push_back(held.digest);
  ASSIGN_OR_RETURN(const std::vector<Digest> missing, groups_.store().FindMissing(digests));
  std::vector<store::BlobView> views;
  uint64_t bytes = 0;
  // The missing digests come in the order of the question.
  for (const Held& held : held_) {
    if (views.size() == missing.size() || held.digest != missing[views.size()]) continue;
    views.push_back(
        {.digest = held.digest, .bytes = std::string_view(bytes_).substr(held.begin, held.size)});
    bytes += held.size;
  }
  if (!views.empty()) {
    RETURN_IF_ERROR(OpenSegment());
    RETURN_IF_ERROR(groups_.CheckSpace(bytes));
    ASSIGN_OR_RETURN(const auto locations, writer_->AppendHashed(views));
    for (size_t i = 0; i < views.size(); ++i)
      RETURN_IF_ERROR(groups_.Add(views[i].digest, locations[i]));
  }
  held_.clear();
  bytes_.clear();
  end_ = 0;
  return absl::OkStatus();
}

}  // namespace galley::director

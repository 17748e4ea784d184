#include "common/store/layers/faulty.h"

#include <utility>

#include "common/base/status_macros.h"

namespace galley::store {

FaultyBlobStore::FaultyBlobStore(std::shared_ptr<BlobStore> behind, FaultyOptions options)
    : behind_(std::move(behind)), options_(std::move(options)), random_(options_.seed) {}

std::map<BlobFault, uint64_t> FaultyBlobStore::Done() const {
  const base::MutexLock lock(mutex_);
  return done_;
}

// The generator is asked each time, so that raising the odds of one fault moves no other. Its
// numbers are those of the standard; std::uniform_real_distribution's are the library's own.
bool FaultyBlobStore::Happens(BlobFault fault) {
  const base::MutexLock lock(mutex_);
  const double drawn = static_cast<double>(random_() >> 11) / static_cast<double>(1ull << 53);
  const auto odds = options_.odds.find(fault);
  const bool happens = odds != options_.odds.end() && drawn < odds->second;
  if (happens) ++done_[fault];
  return happens;
}

uint64_t FaultyBlobStore::Choose(uint64_t count) {
  const base::MutexLock lock(mutex_);
  return random_() % count;
}

void FaultyBlobStore::Pause(absl::Duration time) const {
  if (options_.pause) options_.pause(time);
}

absl::Status FaultyBlobStore::BeforeCall() {
  if (Happens(BlobFault::kDelay)) Pause(options_.delay);
  if (Happens(BlobFault::kHang)) {
    Pause(options_.hang_time);
    return absl::DeadlineExceededError("fault: no answer in time");
  }
  if (Happens(BlobFault::kUnavailable)) return absl::UnavailableError("fault: connection refused");
  return absl::OkStatus();
}

absl::Status FaultyBlobStore::AfterCall() {
  if (Happens(BlobFault::kLostReply)) return absl::UnavailableError("fault: connection reset");
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Digest>> FaultyBlobStore::FindMissing(std::span<const Digest> digests) {
  RETURN_IF_ERROR(BeforeCall());
  ASSIGN_OR_RETURN(std::vector<Digest> missing, behind_->FindMissing(digests));
  RETURN_IF_ERROR(AfterCall());
  const bool says_present = Happens(BlobFault::kSaysPresent);
  const bool says_missing = Happens(BlobFault::kNotFound);
  if (says_present) missing.clear();
  if (says_missing) missing.assign(digests.begin(), digests.end());
  return missing;
}

absl::StatusOr<Blob> FaultyBlobStore::Get(const Digest& digest) {
  RETURN_IF_ERROR(BeforeCall());
  ASSIGN_OR_RETURN(const Blob blob, behind_->Get(digest));
  RETURN_IF_ERROR(AfterCall());
  if (Happens(BlobFault::kNotFound))
    return absl::NotFoundError("fault: blob " + digest.ToString() + " was evicted");
  std::string bytes = *blob;
  if (!bytes.empty() && Happens(BlobFault::kFlippedByte)) {
    char& flipped = bytes[Choose(bytes.size())];
    flipped = static_cast<char>(flipped ^ (1 << Choose(8)));
  }
  if (!bytes.empty() && Happens(BlobFault::kShort)) bytes.resize(Choose(bytes.size()));
  return MakeBlob(std::move(bytes));
}

absl::Status FaultyBlobStore::Put(const Digest& digest, std::string_view bytes) {
  RETURN_IF_ERROR(BeforeCall());
  RETURN_IF_ERROR(behind_->Put(digest, bytes));
  return AfterCall();
}

}  // namespace galley::store

#include "common/store/reapi/client/blob_trust.h"

#include <algorithm>

namespace galley::store {
namespace {

constexpr size_t kWrongMax = 100'000;
constexpr size_t kSentMax = 2'000'000;
constexpr uint64_t kReadBackMax = 16;             // of each kind
constexpr uint64_t kReadBackBytesMax = 64 << 20;  // it is read into memory

}  // namespace

void BlobTrust::TakeVerdict() {
  if (verdict_.reason() != RemoteVerdict::Reason::kNone && !given_up_.is_cancelled())
    given_up_.Cancel();
}

void BlobTrust::BecomesRight(const Digest& digest) {
  if (wrong_.erase(digest) == 0) return;
  made_again_.erase(digest);
  ++repaired_;
}

void BlobTrust::CameRight(uint64_t blobs) {
  const base::MutexLock lock(mutex_);
  verdict_.CameRight(blobs);
}

void BlobTrust::CameWrong(const Digest& digest) {
  const base::MutexLock lock(mutex_);
  if (wrong_.size() < kWrongMax) wrong_.insert(digest);
  verdict_.CameWrong();
  TakeVerdict();
}

void BlobTrust::ReadTook(const RemoteVerdict::Read& read) {
  const base::MutexLock lock(mutex_);
  verdict_.Took(read);
  TakeVerdict();
}

bool BlobTrust::IsKnownWrong(const Digest& digest) const {
  const base::MutexLock lock(mutex_);
  return wrong_.contains(digest);
}

absl::Duration BlobTrust::LeftToLose() const {
  const base::MutexLock lock(mutex_);
  return verdict_.LeftToLose();
}

std::vector<Digest> BlobTrust::Doubted(std::span<const Digest> digests) {
  const base::MutexLock lock(mutex_);
  const bool is_none_believed = verdict_.reason() == RemoteVerdict::Reason::kWrong;
  std::vector<Digest> doubted;
  for (const Digest& digest : digests) {
    const bool is_wrong = wrong_.contains(digest);
    if (is_wrong) made_again_.insert(digest);
    if (kinds_[KindOf(digest)].takes_none()) continue;
    if (is_wrong || (is_none_believed && !sent_.contains(digest))) doubted.push_back(digest);
  }
  return doubted;
}

std::vector<Digest> BlobTrust::ToReadBack(std::span<const Digest> sent) const {
  const base::MutexLock lock(mutex_);
  std::array<uint64_t, 2> left;
  for (size_t kind = 0; kind < left.size(); ++kind) {
    const uint64_t done = kinds_[kind].taken + kinds_[kind].kept;
    left[kind] = kReadBackMax - std::min(kReadBackMax, done);
  }
  std::vector<Digest> chosen;
  for (const Digest& digest : sent) {
    uint64_t& of_kind = left[KindOf(digest)];
    if (of_kind == 0 || digest.size_bytes() > kReadBackBytesMax || !wrong_.contains(digest))
      continue;
    --of_kind;
    chosen.push_back(digest);
  }
  return chosen;
}

void BlobTrust::ReadBack(const Digest& digest, bool is_right) {
  const base::MutexLock lock(mutex_);
  Kind& kind = kinds_[KindOf(digest)];
  ++(is_right ? kind.taken : kind.kept);
  if (is_right) BecomesRight(digest);
}

void BlobTrust::Sent(std::span<const Digest> digests) {
  const base::MutexLock lock(mutex_);
  for (const Digest& digest : digests) {
    const Kind& kind = kinds_[KindOf(digest)];
    // A blob that was read back has been judged; the others are as right as those were.
    if (kind.taken > 0 && kind.kept == 0) BecomesRight(digest);
    if (verdict_.reason() == RemoteVerdict::Reason::kWrong && sent_.size() < kSentMax)
      sent_.insert(digest);
  }
}

BlobTrust::Counts BlobTrust::counts() const {
  const base::MutexLock lock(mutex_);
  return {.given_up = verdict_.reason(),
          .blobs_came = verdict_.blobs_came(),
          .blobs_wrong = verdict_.blobs_wrong(),
          .lost = verdict_.lost(),
          .blobs_repaired = repaired_,
          .blobs_kept_wrong = made_again_.size()};
}

}  // namespace galley::store

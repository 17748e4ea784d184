#include "director/shell/upload_ledger.h"

#include "common/base/human_bytes.h"
#include "fmt/format.h"

namespace galley::director {

absl::StatusOr<bool> UploadLedger::Take(std::string_view worker, const Digest& digest) {
  const auto size = static_cast<uint64_t>(digest.size_bytes());
  const base::MutexLock lock(mutex_);
  const auto found = unnamed_.find(worker);
  const Unnamed none;
  const Unnamed& of = found == unnamed_.end() ? none : found->second;
  if (of.blobs.contains(digest)) return false;
  if (of.blobs.size() >= limits_.blobs_max || size > limits_.bytes_max - of.bytes) {
    return absl::ResourceExhaustedError(fmt::format(
        "{} is not taken: {} has uploaded {} in {} blobs that no result of its names, and may have "
        "{} in {}; a worker reports on a job as soon as its outputs are uploaded",
        digest.ToString(), worker, HumanBytes(of.bytes), of.blobs.size(),
        HumanBytes(limits_.bytes_max), limits_.blobs_max));
  }
  Unnamed& counted = unnamed_[std::string(worker)];
  counted.blobs.insert(digest);
  counted.bytes += size;
  return true;
}

void UploadLedger::Erase(std::string_view worker, const Digest& digest) {
  const auto found = unnamed_.find(worker);
  if (found == unnamed_.end() || found->second.blobs.erase(digest) == 0) return;
  found->second.bytes -= static_cast<uint64_t>(digest.size_bytes());
  if (found->second.blobs.empty()) unnamed_.erase(found);
}

void UploadLedger::GiveBack(std::string_view worker, const Digest& digest) {
  const base::MutexLock lock(mutex_);
  Erase(worker, digest);
}

void UploadLedger::Name(std::string_view worker, std::span<const Digest> digests) {
  const base::MutexLock lock(mutex_);
  for (const Digest& digest : digests) Erase(worker, digest);
}

bool UploadLedger::IsClean(std::string_view worker) const {
  const base::MutexLock lock(mutex_);
  return !unnamed_.contains(worker);
}

void UploadLedger::ForgetUnless(absl::FunctionRef<bool(std::string_view worker)> has_jobs) {
  const base::MutexLock lock(mutex_);
  std::erase_if(unnamed_, [&](const auto& one) { return !has_jobs(one.first); });
}

uint64_t UploadLedger::bytes(std::string_view worker) const {
  const base::MutexLock lock(mutex_);
  const auto found = unnamed_.find(worker);
  return found == unnamed_.end() ? 0 : found->second.bytes;
}

}  // namespace galley::director

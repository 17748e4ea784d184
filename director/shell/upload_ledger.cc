#include "director/shell/upload_ledger.h"

#include <algorithm>

#include "common/base/counted.h"
#include "common/base/errors.h"
#include "common/base/human_bytes.h"

namespace galley::director {

UploadLedger::OfWorker& UploadLedger::OfOrNew(std::string_view worker) {
  const auto found = workers_.find(worker);
  return found != workers_.end() ? found->second : workers_[std::string(worker)];
}

absl::StatusOr<bool> UploadLedger::Take(std::string_view worker, const Digest& digest) {
  const auto size = static_cast<uint64_t>(digest.size_bytes());
  const base::MutexLock lock(mutex_);
  OfWorker& of = OfOrNew(worker);
  if (of.unnamed.contains(digest)) return false;
  if (of.unnamed.size() >= limits_.blobs_max || size > limits_.bytes_max - of.bytes) {
    return ResourceExhaustedError(
        "{} is not taken: {} has uploaded {} in {} that no result of its names, and may have "
        "{} in {}; a worker reports on a job as soon as its outputs are uploaded",
        digest.ToString(), worker, HumanBytes(of.bytes), Counted(of.unnamed.size(), "blob"),
        HumanBytes(limits_.bytes_max), limits_.blobs_max);
  }
  // An upload that comes when no attempt is under way belongs to none: an honest worker uploads
  // before it says that an attempt is over.
  const AttemptId newest = of.open.empty() ? OfWorker::kNone : of.newest;
  of.unnamed.emplace(digest, newest);
  of.by_attempt.emplace(newest, digest);
  of.bytes += size;
  return true;
}

void UploadLedger::Erase(OfWorker& of, const Digest& digest) {
  const auto found = of.unnamed.find(digest);
  if (found == of.unnamed.end()) return;
  of.by_attempt.erase({found->second, digest});
  of.unnamed.erase(found);
  of.bytes -= static_cast<uint64_t>(digest.size_bytes());
}

void UploadLedger::Erase(std::string_view worker, const Digest& digest) {
  if (const auto found = workers_.find(worker); found != workers_.end())
    Erase(found->second, digest);
}

void UploadLedger::GiveBackEnded(OfWorker& of) {
  while (!of.by_attempt.empty()) {
    const auto& [newest, digest] = *of.by_attempt.begin();
    if (newest == OfWorker::kNone || (!of.open.empty() && *of.open.begin() <= newest)) return;
    const Digest ended = digest;  // Erase ends the element
    Erase(of, ended);
  }
}

void UploadLedger::GiveBack(std::string_view worker, const Digest& digest) {
  const base::MutexLock lock(mutex_);
  Erase(worker, digest);
}

void UploadLedger::Begin(std::string_view worker, AttemptId attempt) {
  const base::MutexLock lock(mutex_);
  OfWorker& of = OfOrNew(worker);
  of.open.insert(attempt);
  of.newest = std::max(of.newest, attempt);
}

void UploadLedger::End(std::string_view worker, AttemptId attempt) {
  const base::MutexLock lock(mutex_);
  const auto found = workers_.find(worker);
  if (found != workers_.end() && found->second.open.erase(attempt) > 0)
    GiveBackEnded(found->second);
}

void UploadLedger::EndUnless(absl::FunctionRef<bool(AttemptId attempt)> is_known) {
  const base::MutexLock lock(mutex_);
  for (auto& [worker, of] : workers_) {
    if (of.unnamed.empty()) continue;
    while (!of.open.empty() && !is_known(*of.open.begin())) of.open.erase(of.open.begin());
    GiveBackEnded(of);
  }
}

void UploadLedger::Name(std::string_view worker, std::span<const Digest> digests) {
  const base::MutexLock lock(mutex_);
  for (const Digest& digest : digests) Erase(worker, digest);
}

bool UploadLedger::IsClean(std::string_view worker) const {
  const base::MutexLock lock(mutex_);
  const auto found = workers_.find(worker);
  return found == workers_.end() || found->second.unnamed.empty();
}

void UploadLedger::ForgetUnless(absl::FunctionRef<bool(std::string_view worker)> has_jobs) {
  const base::MutexLock lock(mutex_);
  std::erase_if(workers_, [&](const auto& one) { return !has_jobs(one.first); });
}

uint64_t UploadLedger::bytes(std::string_view worker) const {
  const base::MutexLock lock(mutex_);
  const auto found = workers_.find(worker);
  return found == workers_.end() ? 0 : found->second.bytes;
}

}  // namespace galley::director

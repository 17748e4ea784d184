#include "common/store/testing/memory_store.h"

#include "absl/time/clock.h"
#include "common/base/status_macros.h"
#include "common/record/dispute.h"
#include "common/record/result.h"
#include "common/store/interface/action_result.h"
#include "common/store/interface/complete_results.h"
#include "common/store/interface/named_blobs.h"
#include "fmt/format.h"

namespace galley::store {

MemoryStore::MemoryStore(std::string store_id) : store_id_(std::move(store_id)) {}

absl::StatusOr<std::pair<Digest, BlobLocation>> MemoryStore::WriteAsWorker(uint64_t segment,
                                                                           std::string_view bytes) {
  const base::MutexLock lock(mutex_);
  const auto at = segments_.find(segment);
  if (at == segments_.end())
    return absl::NotFoundError(fmt::format("segment {:016x} was not allocated", segment));
  const std::pair<Digest, BlobLocation> written(
      Digest::Of(bytes), BlobLocation{.segment = segment, .offset = at->second.size()});
  at->second += bytes;
  at->second += '\n';  // so that no two blobs begin at one offset
  written_[written] = MakeBlob(std::string(bytes));
  return written;
}

bool MemoryStore::Corrupt(const Digest& digest) {
  const base::MutexLock lock(mutex_);
  const auto at = blobs_.find(digest);
  if (at == blobs_.end()) return false;
  at->second.bytes = MakeBlob(*at->second.bytes + "?");
  return true;
}

void MemoryStore::Drop(const Digest& digest) {
  const base::MutexLock lock(mutex_);
  if (blobs_.erase(digest) != 0) ++loss_epoch_;
}

void MemoryStore::LoseLocked(const Digest& digest) {
  blobs_.erase(digest);
  ++quarantined_;
  ++loss_epoch_;
}

bool MemoryStore::HasLocked(const Digest& digest) const {
  return digest == Digest() || blobs_.contains(digest);
}

absl::StatusOr<std::vector<Digest>> MemoryStore::FindMissing(std::span<const Digest> digests) {
  const base::MutexLock lock(mutex_);
  std::vector<Digest> missing;
  for (const Digest& digest : digests) {
    if (!HasLocked(digest)) missing.push_back(digest);
  }
  return missing;
}

absl::StatusOr<Blob> MemoryStore::Get(const Digest& digest) {
  if (digest == Digest()) return MakeBlob("");
  const base::MutexLock lock(mutex_);
  const auto at = blobs_.find(digest);
  if (at == blobs_.end())
    return absl::NotFoundError(fmt::format("blob {} is not in the store", digest.ToString()));
  const Blob bytes = at->second.bytes;
  if (Digest::Of(*bytes) == digest) return bytes;
  LoseLocked(digest);
  return absl::DataLossError(
      fmt::format("blob {}: its bytes were wrong; it is quarantined", digest.ToString()));
}

absl::Status MemoryStore::Put(const Digest& digest, std::string_view bytes) {
  if (Digest::Of(bytes) != digest) {
    return absl::InvalidArgumentError(
        fmt::format("blob {}: the {} bytes given are not those of this digest", digest.ToString(),
                    bytes.size()));
  }
  const base::MutexLock lock(mutex_);
  if (!HasLocked(digest))
    blobs_[digest] = Stored{.bytes = MakeBlob(std::string(bytes)), .location = {}};
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::vector<std::string>>> MemoryStore::ObservationSets(
    std::span<const Digest> weak_keys) {
  const base::MutexLock lock(mutex_);
  std::vector<std::vector<std::string>> answer;
  for (const Digest& key : weak_keys) {
    const auto at = sets_.find(key);
    answer.push_back(at == sets_.end() ? std::vector<std::string>() : at->second);
  }
  return answer;
}

bool MemoryStore::IsCompleteLocked(const std::string& result) const {
  const absl::StatusOr<record::Result> decoded = record::DecodeResult(result);
  if (!decoded.ok()) return false;
  std::vector<Digest> named;
  AppendNamedBlobs(*decoded, named);
  for (const Digest& digest : named) {
    if (!HasLocked(digest)) return false;
  }
  return true;
}

absl::StatusOr<std::vector<std::optional<std::string>>> MemoryStore::Results(
    std::span<const Digest> action_keys) {
  const base::MutexLock lock(mutex_);
  std::vector<std::optional<std::string>> answer;
  for (const Digest& key : action_keys) {
    const auto at = results_.find(key);
    answer.push_back(at != results_.end() && IsCompleteLocked(at->second)
                         ? std::optional(at->second)
                         : std::nullopt);
  }
  return answer;
}

absl::StatusOr<std::vector<std::optional<std::string>>> MemoryStore::RecordedResults(
    std::span<const Digest> action_keys) {
  const base::MutexLock lock(mutex_);
  std::vector<std::optional<std::string>> answer;
  for (const Digest& key : action_keys) {
    const auto at = results_.find(key);
    answer.push_back(at != results_.end() ? std::optional(at->second) : std::nullopt);
  }
  return answer;
}

absl::StatusOr<std::vector<std::optional<std::string>>> MemoryStore::ActionResults(
    std::string_view instance, std::span<const Digest> actions) {
  std::vector<std::optional<std::string>> answer;
  {
    const base::MutexLock lock(mutex_);
    for (const Digest& action : actions) {
      const auto at = action_results_.find({std::string(instance), action});
      answer.push_back(at != action_results_.end() ? std::optional(at->second) : std::nullopt);
    }
  }
  return CompleteActionResults(*this, std::move(answer));
}

absl::StatusOr<StoreInfo> MemoryStore::Info() {
  const base::MutexLock lock(mutex_);
  return StoreInfo{.directory = "",
                   .store_id = store_id_,
                   .loss_epoch = loss_epoch_,
                   .disputed_epoch = disputed_epoch_,
                   .commits = commits_};
}

absl::StatusOr<uint64_t> MemoryStore::AllocateSegment() {
  const base::MutexLock lock(mutex_);
  const uint64_t number = segments_.size() + 1;
  segments_[number];
  return number;
}

absl::StatusOr<std::vector<std::optional<BlobLocation>>> MemoryStore::Locate(
    std::span<const Digest> digests) {
  const base::MutexLock lock(mutex_);
  std::vector<std::optional<BlobLocation>> answer;
  for (const Digest& digest : digests) {
    const auto at = blobs_.find(digest);
    answer.push_back(at != blobs_.end()   ? std::optional(at->second.location)
                     : digest == Digest() ? std::optional(BlobLocation{})
                                          : std::nullopt);
  }
  return answer;
}

void MemoryStore::AddSetLocked(const Digest& weak_key, const std::string& set) {
  std::vector<std::string>& sets = sets_[weak_key];
  std::erase(sets, set);
  sets.insert(sets.begin(), set);
  if (sets.size() > kSetsMax) sets.resize(kSetsMax);
}

absl::Status MemoryStore::Commit(const CommitBatch& batch) {
  const base::MutexLock lock(mutex_);
  for (const auto& [digest, location] : batch.blobs) {
    const auto known = blobs_.find(digest);
    const bool is_known =
        digest == Digest() || (known != blobs_.end() && known->second.location == location);
    if (!is_known && !written_.contains({digest, location})) {
      return absl::InvalidArgumentError(fmt::format("blob {} is not at segment {:016x} offset {}",
                                                    digest.ToString(), location.segment,
                                                    location.offset));
    }
  }
  for (const PutResult& put : batch.results) {
    const absl::Status status = record::DecodeResult(put.result).status();
    if (!status.ok())
      return absl::InvalidArgumentError(
          fmt::format("result of action key {}: {}", put.action_key.ToString(), MessageOf(status)));
  }
  for (const PutActionResult& put : batch.action_results) {
    const absl::Status status = ValidateActionResult(put.result);
    if (!status.ok())
      return absl::InvalidArgumentError(
          fmt::format("result of action {}: {}", put.action.ToString(), MessageOf(status)));
  }
  std::map<Digest, std::string> kept;  // results that stand against those of this batch
  for (const PutResult& put : batch.results) {
    const auto at = results_.find(put.action_key);
    if (at != results_.end() && IsCompleteLocked(at->second)) kept.insert(*at);
  }
  for (const auto& blob : batch.blobs) {
    if (!HasLocked(blob.first))
      blobs_[blob.first] = Stored{.bytes = written_.at(blob), .location = blob.second};
  }
  ++commits_;
  std::string conflicts;
  for (const PutResult& put : batch.results) {
    if (put.weak_key != Digest()) AddSetLocked(put.weak_key, put.observation_set);
    const auto [at, is_new] = kept.emplace(put.action_key, put.result);
    const record::Result stored = *record::DecodeResult(at->second),
                         given = *record::DecodeResult(put.result);
    const auto standing = is_new ? record::Standing::kGiven : record::JudgeDispute(stored, given);
    if (standing == record::Standing::kGiven) results_[put.action_key] = at->second = put.result;
    if (standing == record::Standing::kDispute) {
      results_[put.action_key] = at->second =
          record::EncodeResult(record::DisputeOf(stored, given));
    }
    if (standing != record::Standing::kStored &&
        (given.is_disputed || standing == record::Standing::kDispute))
      disputed_epoch_ = ++loss_epoch_;
    if (standing != record::Standing::kGiven && !record::SameOutcome(stored, given))
      conflicts += " " + put.action_key.ToString();
  }
  for (const PutSet& put : batch.sets) AddSetLocked(put.weak_key, put.observation_set);
  for (const PutActionResult& put : batch.action_results)
    action_results_[{put.instance, put.action}] = put.result;
  if (conflicts.empty()) return absl::OkStatus();
  return absl::AlreadyExistsError("another outcome is stored for action key" + conflicts);
}

absl::StatusOr<uint64_t> MemoryStore::Publish(const PublishedRoot& root) {
  const base::MutexLock lock(mutex_);
  if (!HasLocked(root.root)) {
    return absl::FailedPreconditionError(
        fmt::format("root {} is not in the store: put its Directories before it is published",
                    root.root.ToString()));
  }
  PublishedRoot published = root;
  published.sequence = 1;
  for (const PublishedRoot& other : roots_) {
    if (other.project_id == root.project_id && other.platform == root.platform)
      ++published.sequence;
  }
  roots_.push_back(published);
  ++commits_;
  return published.sequence;
}

absl::StatusOr<std::vector<PublishedRoot>> MemoryStore::Roots(std::string_view project_id) {
  const base::MutexLock lock(mutex_);
  std::vector<PublishedRoot> answer;
  for (const PublishedRoot& root : roots_) {
    if (project_id.empty() || root.project_id == project_id) answer.insert(answer.begin(), root);
  }
  return answer;
}

absl::Status MemoryStore::Forget(std::span<const Digest> action_keys) {
  const base::MutexLock lock(mutex_);
  size_t count = 0;
  for (const Digest& key : action_keys) count += results_.erase(key);
  if (count != 0) ++loss_epoch_;
  ++commits_;
  return absl::OkStatus();
}

absl::StatusOr<RevokeReport> MemoryStore::Revoke(const RevokeOptions& options) {
  record::Revocation what = options.what;
  what.until = absl::Now();
  const base::MutexLock lock(mutex_);
  RevokeReport report;
  for (const auto& [key, encoded] : results_) {
    const absl::StatusOr<record::Result> result = record::DecodeResult(encoded);
    if (!result.ok() || !record::IsRevoked(result->provenance, what)) continue;
    const record::Provenance& made = result->provenance;
    report.results.push_back({.key = key,
                              .worker = made.worker,
                              .machine = made.machine,
                              .taken = record::TakenAt(made),
                              .received_from = made.received_from});
    for (const record::Output& output : result->outputs)
      report.results.back().outputs.push_back(output.digest);
  }
  if (options.is_dry) return report;
  for (const RevokeReport::Result& one : report.results) results_.erase(one.key);
  revocations_.push_back(std::move(what));
  disputed_epoch_ = ++loss_epoch_;
  ++commits_;
  return report;
}

absl::StatusOr<std::vector<record::Revocation>> MemoryStore::Revocations() {
  const base::MutexLock lock(mutex_);
  return revocations_;
}

absl::Status MemoryStore::ChangeLeases(const LeaseChanges& changes) {
  RETURN_IF_ERROR(ValidateLeaseNames(changes.taken));
  const base::MutexLock lock(mutex_);
  std::vector<RootLease> held;
  for (const auto& [name, lease] : leases_) held.push_back(lease);
  for (const RootLease& lease : LeasesOfNewRoots(changes.taken, held)) {
    if (!HasLocked(lease.root)) return AbsentRootOfLease(lease);
  }
  std::map<std::string, RootLease> leases = leases_;
  for (const std::string& name : changes.released) leases.erase(name);
  for (const RootLease& lease : changes.taken) leases.insert_or_assign(lease.name, lease);
  if (leases.size() > kLeasesMax) return absl::ResourceExhaustedError("too many leases");
  leases_ = std::move(leases);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<RootLease>> MemoryStore::Leases() {
  const base::MutexLock lock(mutex_);
  std::vector<RootLease> all;
  for (const auto& [name, lease] : leases_) all.push_back(lease);
  return all;
}

absl::StatusOr<StoreStats> MemoryStore::Stats(const StatsOptions& /*options*/) {
  const base::MutexLock lock(mutex_);
  StoreStats stats{.blobs = blobs_.size(),
                   .results = results_.size(),
                   .segments = segments_.size(),
                   .roots = roots_.size(),
                   .quarantined = quarantined_};
  for (const auto& [digest, stored] : blobs_) stats.blob_bytes += digest.size_bytes();
  for (const auto& [key, sets] : sets_) stats.observation_sets += sets.size();
  for (const auto& [number, bytes] : segments_) stats.segment_bytes += bytes.size();
  return stats;
}

absl::StatusOr<VerifyReport> MemoryStore::Verify(const VerifyOptions&) {
  const base::MutexLock lock(mutex_);
  VerifyReport report;
  std::vector<Digest> wrong;
  for (const auto& [digest, stored] : blobs_) {
    ++report.blobs;
    report.bytes += digest.size_bytes();
    if (Digest::Of(*stored.bytes) != digest) wrong.push_back(digest);
  }
  for (const Digest& digest : wrong) {
    LoseLocked(digest);
    report.problems.push_back(fmt::format(
        "blob {}: its bytes were wrong; quarantined, cook again what needs it", digest.ToString()));
  }
  return report;
}

absl::StatusOr<GcReport> MemoryStore::Collect(const GcOptions&) {
  return absl::UnimplementedError("this store collects nothing");
}

absl::StatusOr<WhyReport> MemoryStore::Why(const Digest&, size_t) {
  return absl::UnimplementedError("this store does not know why it keeps a blob");
}

}  // namespace galley::store

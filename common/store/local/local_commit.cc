// The part of LocalStore that writes for good: commits, roots, forgetting. The order in
// CommitLocked is the promise of the whole store.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <utility>

#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "common/record/dispute.h"
#include "common/record/result.h"
#include "common/store/interface/action_result.h"
#include "common/store/interface/commit_order.h"
#include "common/store/local/blob_file.h"
#include "common/store/local/disk.h"
#include "common/store/local/local_store.h"
#include "common/store/local/segment_reader.h"
#include "common/store/local/segment_writer.h"
#include "common/store/local/write_anew.h"
#include "fmt/format.h"

namespace galley::store {

absl::Status LocalStore::Commit(const CommitBatch& batch) { return queue_.Run(batch); }

absl::Status LocalStore::CommitIfRoom() {
  const absl::Status status = Commit({});
  return absl::IsResourceExhausted(status) ? absl::OkStatus() : status;
}

std::vector<absl::Status> LocalStore::CommitGroup(std::span<const CommitBatch* const> batches) {
  const base::MutexLock lock(commit_mutex_);
  if (!broken_.ok()) return std::vector<absl::Status>(batches.size(), broken_);
  Plan plan;
  std::vector<absl::Status> outcomes;
  for (const CommitBatch* batch : batches) outcomes.push_back(PlanBatch(*batch, plan));
  if (const absl::Status status = CommitLocked(std::move(plan), nullptr); !status.ok())
    outcomes.assign(batches.size(), status);
  return outcomes;
}

absl::Status LocalStore::CommitLocked(Plan plan, const PublishedRoot* root) {
  RETURN_IF_ERROR(broken_);
  {
    const base::MutexLock lock(mutex_);
    plan.pending.assign(pending_.begin(), pending_.end());
  }
  const bool is_empty = plan.adopted.empty() && plan.pending.empty() && plan.sets.empty() &&
                        plan.sets_known.empty() && plan.results.empty() &&
                        plan.action_results.empty() && root == nullptr;
  if (is_empty) return absl::OkStatus();
  RETURN_IF_ERROR(RestoreOwnSegments());
  plan.bytes += 4096 + 64 * (plan.adopted.size() + plan.pending.size());
  RETURN_IF_ERROR(CheckFreeSpace(directory_, plan.bytes, options_.free_bytes_margin));
  return WritePlan(plan, root);
}

std::vector<Digest> LocalStore::FilesOf(const Plan& plan) {
  std::vector<Digest> files;
  for (const auto* blobs : {&plan.adopted, &plan.pending}) {
    for (const auto& [digest, location] : *blobs) {
      if (location.segment == 0) files.push_back(digest);
    }
  }
  return files;
}

absl::Status LocalStore::WritePlan(const Plan& plan, const PublishedRoot* root) {
  auto index = index_->NewBatch();
  if (!plan.disputes.empty()) RETURN_IF_ERROR(RaiseEpoch(*index));
  // The mutex is held while they run.
  const CommitSteps steps = {
      .raise_mark = [&]()
                        GALLEY_REQUIRES(commit_mutex_) { return sync_mark_.Raise(FilesOf(plan)); },
      .sync_named = [&]() GALLEY_REQUIRES(commit_mutex_) { return SyncNamed(plan); },
      .sync_folders = [&]() GALLEY_REQUIRES(commit_mutex_) { return SyncFolders(plan); },
      .append = [&] { return AppendPlan(plan, root, *index); },
      .sync_log = [&]() GALLEY_REQUIRES(commit_mutex_) { return SyncOwn(); },
      .lower_mark = [&]() GALLEY_REQUIRES(commit_mutex_) { return sync_mark_.Lower(); },
      .index = [&]() GALLEY_REQUIRES(commit_mutex_) -> absl::Status {
        const absl::Status noted = NoteSegments(plan, *index);
        if (noted.ok()) return WriteIndex(std::move(index));
        // The log has it already: a later commit would say that it is in the index.
        Break(noted);
        return noted;
      }};
  RETURN_IF_ERROR(CommitInOrder(steps));
  DropPending(plan.pending);
  return absl::OkStatus();
}

// Adds all of `batch`, or nothing when it is INVALID_ARGUMENT. ALREADY_EXISTS: all but the results
// of which another outcome stands.
absl::Status LocalStore::PlanBatch(const CommitBatch& batch, Plan& plan) {
  std::vector<record::Result> results;
  for (const PutResult& put : batch.results) {
    absl::StatusOr<record::Result> result = record::DecodeResult(put.result);
    if (!result.ok()) {
      return absl::InvalidArgumentError(fmt::format(
          "result of action key {}: {}", put.action_key.ToString(), MessageOf(result.status())));
    }
    results.push_back(*std::move(result));
  }
  for (const PutActionResult& put : batch.action_results) {
    const absl::Status valid = ValidateActionResult(put.result);
    if (!valid.ok())
      return absl::InvalidArgumentError(
          fmt::format("result of action {}: {}", put.action.ToString(), MessageOf(valid)));
  }
  RETURN_IF_ERROR(PlanBlobs(batch, plan));
  for (const PutActionResult& put : batch.action_results) {
    plan.action_results.emplace_back(ActionResultKey(put.instance, put.action),
                                     EncodeActionResult(put));
    plan.bytes += RecordSpan(plan.action_results.back().second.size());
    Tell(std::span(&plan.action_results.back().first, 1));
  }
  RETURN_IF_ERROR(PlanSets(batch, plan));
  return PlanResults(batch, std::move(results), plan);
}

absl::Status LocalStore::CheckLocation(const Digest& digest, const BlobLocation& location,
                                       RecordHeaders& headers) {
  const auto refuse = [&](std::string_view why) {
    return absl::InvalidArgumentError(fmt::format("blob {} is not at segment {:016x} offset {}: {}",
                                                  digest.ToString(), location.segment,
                                                  location.offset, why));
  };
  if (location.segment == 0) {
    const absl::StatusOr<FileStat> stat = StatFile(BlobFilePath(directory_, digest));
    if (!stat.ok())
      return stat.status().code() == absl::StatusCode::kNotFound ? refuse(MessageOf(stat.status()))
                                                                 : stat.status();
    return stat->size_bytes == digest.size_bytes() ? absl::OkStatus()
                                                   : refuse("the file has another size");
  }
  const absl::StatusOr<RecordHeader> header = headers.Read(location.segment, location.offset);
  const absl::StatusCode code = header.status().code();
  if (code == absl::StatusCode::kNotFound || code == absl::StatusCode::kDataLoss)
    return refuse(MessageOf(header.status()));
  RETURN_IF_ERROR(header.status());
  if (header->kind != RecordKind::kBlob || header->key != digest ||
      header->payload_bytes != digest.size_bytes()) {
    return refuse("another record lies there");
  }
  return absl::OkStatus();
}

// Copies a blob in, as if it had been Put.
absl::Status LocalStore::CopyIn(const Digest& digest, const BlobLocation& location) {
  const absl::StatusOr<Blob> blob = ReadBlobAt(directory_, digest, location);
  if (blob.status().code() == absl::StatusCode::kDataLoss)
    return absl::InvalidArgumentError(MessageOf(blob.status()));
  RETURN_IF_ERROR(blob.status());
  RETURN_IF_ERROR(
      CheckFreeSpace(directory_, RecordSpan((*blob)->size()), options_.free_bytes_margin));
  const base::MutexLock lock(mutex_);
  if (pending_.contains(digest)) return absl::OkStatus();
  RecordPlace place;
  RETURN_IF_ERROR(Append(RecordKind::kBlob, digest, **blob, place));
  pending_[digest] = BlobLocation{.segment = place.segment, .offset = place.offset};
  pending_bytes_ += digest.size_bytes();
  return absl::OkStatus();
}

absl::Status LocalStore::PlanBlobs(const CommitBatch& batch, Plan& plan) {
  std::vector<Digest> digests;
  for (const auto& [digest, location] : batch.blobs) digests.push_back(digest);
  const auto known = KnownBlobs(digests);
  RETURN_IF_ERROR(known.status());
  std::vector<LocatedBlob> adopted;
  RecordHeaders headers(directory_);
  Disk disk(directory_);
  for (size_t i = 0; i < batch.blobs.size(); ++i) {
    const auto& [digest, location] = batch.blobs[i];
    if (digest == Digest()) continue;
    // A known blob stays where it is, wherever another copy was put, unless somebody deleted it.
    if (const std::optional<BlobLocation>& place = (*known)[i]; place.has_value()) {
      if (*place == location) continue;
      ASSIGN_OR_RETURN(const bool is_there, disk.Has(digest, *place));
      if (is_there) continue;
    }
    RETURN_IF_ERROR(CheckLocation(digest, location, headers));
    if (doubtful_.Hold(location)) {
      RETURN_IF_ERROR(CopyIn(digest, location));
    } else {
      adopted.push_back(batch.blobs[i]);
    }
  }
  for (const LocatedBlob& blob : adopted) {
    if (plan.adopted_digests.insert(blob.first).second) plan.adopted.push_back(blob);
  }
  Tell(digests);
  return absl::OkStatus();
}

absl::Status LocalStore::PlanSets(const CommitBatch& batch, Plan& plan) {
  std::vector<SetView> given;
  for (const PutResult& put : batch.results) {
    if (put.weak_key != Digest()) given.push_back({put.weak_key, put.observation_set});
  }
  for (const PutSet& put : batch.sets) given.push_back({put.weak_key, put.observation_set});
  std::vector<Digest> weak_keys;
  for (const SetView& set : given) weak_keys.push_back(set.weak_key);
  Tell(weak_keys);
  ASSIGN_OR_RETURN(const auto known, index_->ObservationSets(weak_keys));
  for (size_t i = 0; i < given.size(); ++i) {
    const uint64_t checksum = Checksum(given[i].bytes);
    if (!plan.set_checksums.emplace(given[i].weak_key, checksum).second) continue;
    const auto& sets = known[i];
    const auto same = std::find_if(sets.begin(), sets.end(),
                                   [&](const SetPlace& set) { return set.checksum == checksum; });
    if (same == sets.end()) {
      plan.sets.push_back(given[i]);
      plan.bytes += RecordSpan(given[i].bytes.size());
    } else if (same != sets.begin()) {
      plan.sets_known.emplace_back(given[i].weak_key, *same);
    }
  }
  return absl::OkStatus();
}

absl::Status LocalStore::PlanResults(const CommitBatch& batch, std::vector<record::Result> given,
                                     Plan& plan) {
  std::vector<Digest> keys;
  for (const PutResult& put : batch.results) keys.push_back(put.action_key);
  // Results that are there and whole. A result that names blobs that are gone is replaced.
  ASSIGN_OR_RETURN(const auto stored, Results(keys));
  std::string conflicts;
  for (size_t i = 0; i < batch.results.size(); ++i) {
    const PutResult& put = batch.results[i];
    auto at = plan.outcomes.find(put.action_key);
    if (at == plan.outcomes.end() && stored[i].has_value()) {
      ASSIGN_OR_RETURN(record::Result old, record::DecodeResult(*stored[i]));
      at = plan.outcomes.emplace(put.action_key, std::move(old)).first;
    }
    const record::Standing standing = at == plan.outcomes.end()
                                          ? record::Standing::kGiven
                                          : record::WhatStands(at->second, given[i]);
    if (standing == record::Standing::kDispute) {
      given[i] = record::DisputeOf(at->second, given[i]);
      plan.disputes.push_back(
          {.action_key = put.action_key, .result = record::EncodeResult(given[i])});
    }
    if (standing != record::Standing::kStored) {
      plan.results.push_back(standing == record::Standing::kGiven ? &put : &plan.disputes.back());
      plan.bytes += RecordSpan(plan.results.back()->result.size());
      plan.outcomes.insert_or_assign(put.action_key, std::move(given[i]));
    }
    const bool is_another =
        standing == record::Standing::kDispute ||
        (standing == record::Standing::kStored && !record::SameOutcome(at->second, given[i]));
    if (is_another) conflicts += " " + put.action_key.ToString();
  }
  Tell(keys);
  if (conflicts.empty()) return absl::OkStatus();
  return absl::AlreadyExistsError("another outcome is stored for action key" + conflicts);
}

absl::Status LocalStore::SyncPath(const std::string& path) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return ErrnoStatus(errno, "open", path);
  if (options_.sync(file.get()) != 0) return ErrnoStatus(errno, "sync", path);
  return absl::OkStatus();
}

// Copies a file of which nobody can know whether the disk has its bytes: the copy's sync can be
// believed. After an error the file is gone, and the next writer makes it anew.
absl::Status LocalStore::CopyFile(const Digest& digest) {
  const std::string path = BlobFilePath(directory_, digest);
  absl::Status status = CheckBlobFile(directory_, digest);
  if (status.ok()) status = WriteAnew(directory_, path, options_.sync, options_.free_bytes_margin);
  if (!status.ok()) ::unlink(path.c_str());
  return status;
}

// Step 1: the data that the commit names, of workers and of Put.
absl::Status LocalStore::SyncNamed(const Plan& plan) {
  std::set<uint64_t> segments;
  for (const auto& [digest, location] : plan.adopted) {
    if (location.segment != 0) {
      segments.insert(location.segment);
      continue;
    }
    const absl::Status status = SyncPath(BlobFilePath(directory_, digest));
    if (!status.ok()) CopyFile(digest).IgnoreError();  // whoever reported it is told of the failure
    RETURN_IF_ERROR(status);
  }
  for (const LocatedBlob& blob : plan.pending) {
    if (blob.second.segment != 0) continue;
    const absl::Status status = SyncPath(BlobFilePath(directory_, blob.first));
    if (status.ok()) continue;
    if (const absl::Status copied = CopyFile(blob.first); !copied.ok()) {
      DropPending({blob});
      Break(copied);
    }
    return status;
  }
  for (const uint64_t segment : segments) {
    const std::string path = SegmentPath(directory_, segment);
    const absl::Status status = SyncPath(path);
    if (status.ok()) continue;
    const absl::StatusOr<FileStat> stat = StatFile(path);
    doubtful_.Note(segment, stat.ok() ? stat->size_bytes : UINT64_MAX);
    return status;
  }
  return absl::OkStatus();
}

// Syncs the folders that have the names of these files and segments, and of what was Put.
absl::Status LocalStore::SyncFolders(const Plan& plan) {
  std::set<std::string> folders;
  const auto add = [&](const LocatedBlob& blob) {
    const std::string path = BlobFilePath(directory_, blob.first);
    if (blob.second.segment == 0) folders.insert(path.substr(0, path.rfind('/')));
  };
  for (const LocatedBlob& blob : plan.adopted) add(blob);
  for (const LocatedBlob& blob : plan.pending) add(blob);
  for (const std::string& folder : folders) RETURN_IF_ERROR(SyncDirectory(folder));
  if (!folders.empty()) RETURN_IF_ERROR(SyncDirectory(JoinPath(directory_, "files")));
  RETURN_IF_ERROR(SyncDirectories());
  return SyncOwn();
}

absl::Status LocalStore::SyncDirectories() {
  {
    const base::MutexLock lock(mutex_);
    if (!std::exchange(segments_folder_changed_, false)) return absl::OkStatus();
  }
  const absl::Status status = SyncDirectory(JoinPath(directory_, "segments"));
  if (!status.ok()) {
    const base::MutexLock lock(mutex_);
    segments_folder_changed_ = true;
  }
  return status;
}

// Syncs the owner's segments that hold what is not synced. A failure is final for that segment:
// what was put there goes on in another.
absl::Status LocalStore::SyncOwn() {
  std::vector<std::shared_ptr<SegmentFile>> files;
  {
    const base::MutexLock lock(mutex_);
    files = full_;
    if (own_ != nullptr && own_->size_bytes() != own_->synced_bytes()) files.push_back(own_);
  }
  RETURN_IF_ERROR(SyncDirectories());
  for (const std::shared_ptr<SegmentFile>& file : files) {
    const uint64_t end = file->size_bytes();
    const int error = options_.sync(file->descriptor()) == 0 ? 0 : errno;
    const base::MutexLock lock(mutex_);
    std::erase(full_, file);
    if (error != 0) {
      GiveUpOwn(*file);
      return ErrnoStatus(error, "sync", file->path());
    }
    checkpoint_bytes_ += end - file->synced_bytes();
    commits_ = std::max(commits_.load(), CommitsOf(file->number(), end));
    file->set_synced_bytes(end);
    own_ends_.Set(file->number(), end);
    synced_ends_[file->number()] = end;
  }
  return absl::OkStatus();
}

// Gives a segment up whose sync failed. Blobs that others Put there must not be lost by this
// commit: they rely on a later one.
void LocalStore::GiveUpOwn(SegmentFile& file) {
  if (own_.get() == &file) own_ = nullptr;
  for (auto at = pending_.begin(); at != pending_.end();) {
    auto& [digest, location] = *at;
    const bool is_there =
        location.segment == file.number() && location.offset >= file.synced_bytes();
    const absl::Status status = is_there ? MovePending(digest, location) : absl::OkStatus();
    if (status.ok()) {
      ++at;
      continue;
    }
    pending_bytes_ -= digest.size_bytes();
    Break(status);
    at = pending_.erase(at);
  }
  file.CutToSynced();
}

// Moves a pending blob to another segment: its bytes can be read as long as the file is not cut.
absl::Status LocalStore::MovePending(const Digest& digest, BlobLocation& location) {
  ASSIGN_OR_RETURN(const Blob blob, ReadBlobAt(directory_, digest, location));
  RETURN_IF_ERROR(CheckFreeSpace(directory_, RecordSpan(blob->size()), options_.free_bytes_margin));
  RecordPlace place;
  RETURN_IF_ERROR(Append(RecordKind::kBlob, digest, *blob, place));
  location = {.segment = place.segment, .offset = place.offset};
  return absl::OkStatus();
}

// From here on everything is refused: what was promised, or what the disk has, is not known.
void LocalStore::Break(const absl::Status& why) {
  if (broken_.ok())
    broken_ = Annotate(why, fmt::format("store {} has to be opened anew", directory_));
}

// Syncs the owner's segments outside of a commit.
absl::Status LocalStore::SyncOwnAlone() {
  RETURN_IF_ERROR(sync_mark_.Raise({}));
  RETURN_IF_ERROR(SyncOwn());
  return sync_mark_.Lower();
}

absl::Status LocalStore::AppendAdopted(std::span<const LocatedBlob> blobs) {
  const base::MutexLock lock(mutex_);
  for (size_t begin = 0; begin < blobs.size(); begin += kAdoptedMax) {
    RecordPlace place;
    RETURN_IF_ERROR(Append(
        RecordKind::kAdopted, Digest(),
        EncodeAdopted(blobs.subspan(begin, std::min(kAdoptedMax, blobs.size() - begin))), place));
  }
  return absl::OkStatus();
}

// Step 2: what the owner's segment says of it. Blobs come before the results that name them.
absl::Status LocalStore::AppendPlan(const Plan& plan, const PublishedRoot* root,
                                    IndexBatch& index) {
  std::vector<LocatedBlob> adopted = plan.adopted;
  for (const LocatedBlob& blob : plan.pending) {
    if (blob.second.segment == 0) adopted.push_back(blob);
  }
  RETURN_IF_ERROR(index.SetBlobs(plan.pending));
  RETURN_IF_ERROR(index.SetBlobs(plan.adopted));
  RETURN_IF_ERROR(AppendAdopted(adopted));
  const base::MutexLock lock(mutex_);
  RecordPlace place;
  for (const auto& [weak_key, set] : plan.sets_known)
    RETURN_IF_ERROR(index.AddObservationSet(weak_key, set));
  for (const SetView& set : plan.sets) {
    RETURN_IF_ERROR(Append(RecordKind::kObservationSet, set.weak_key, set.bytes, place));
    RETURN_IF_ERROR(
        index.AddObservationSet(set.weak_key, {.place = place, .checksum = Checksum(set.bytes)}));
  }
  for (const PutResult* put : plan.results) {
    RETURN_IF_ERROR(Append(RecordKind::kResult, put->action_key, put->result, place));
    RETURN_IF_ERROR(index.SetResult(put->action_key, place));
  }
  for (const auto& [key, payload] : plan.action_results) {
    RETURN_IF_ERROR(Append(RecordKind::kActionResult, key, payload, place));
    RETURN_IF_ERROR(index.SetActionResult(key, place));
  }
  if (root == nullptr) return absl::OkStatus();
  RETURN_IF_ERROR(Append(RecordKind::kPublished, root->root, EncodePublished(*root), place));
  return index.SetRoot(*root, place);
}

absl::Status LocalStore::NoteSegments(const Plan& plan, IndexBatch& index) {
  std::map<uint64_t, SegmentState> changed;
  for (const auto& [digest, location] : plan.adopted) {
    if (location.segment == 0) continue;
    auto at = changed.find(location.segment);
    if (at == changed.end()) {
      // Only segments that are named: a commit costs the same however many segments there are.
      ASSIGN_OR_RETURN(const std::optional<SegmentState> known, index_->Segment(location.segment));
      at = changed
               .emplace(location.segment,
                        known.value_or(SegmentState{.writer = SegmentWriterKind::kWorker}))
               .first;
    }
    if (at->second.writer != SegmentWriterKind::kWorker) continue;
    // Without the padding, which a worker that died may not have written.
    at->second.indexed_bytes = std::max(at->second.indexed_bytes,
                                        location.offset + kRecordHeaderBytes + digest.size_bytes());
  }
  const base::MutexLock lock(mutex_);
  for (const auto& [number, end] : synced_ends_)
    changed[number] = {.writer = SegmentWriterKind::kOwner, .indexed_bytes = end};
  // Blobs that were Put meanwhile are synced but not in this batch: an opener after a crash has to
  // begin before them. Both lists are in the order of digests.
  auto indexed = plan.pending.begin();
  for (const auto& [digest, location] : pending_) {
    while (indexed != plan.pending.end() && indexed->first < digest) ++indexed;
    const bool is_indexed =
        indexed != plan.pending.end() && indexed->first == digest && indexed->second == location;
    const auto at = changed.find(location.segment);
    if (at != changed.end() && !is_indexed)
      at->second.indexed_bytes = std::min(at->second.indexed_bytes, location.offset);
  }
  std::erase_if(synced_ends_, [&](const auto& segment) {
    return changed[segment.first].indexed_bytes == segment.second;
  });
  for (const auto& [number, state] : changed) RETURN_IF_ERROR(index.SetSegment(number, state));
  return absl::OkStatus();
}

// Notes which results were asked for since the last time.
absl::Status LocalStore::StampUses(IndexBatch& index) {
  std::set<Digest> ours, others;
  {
    const base::MutexLock lock(mutex_);
    ours.swap(used_results_);
    others.swap(used_action_results_);
  }
  const uint32_t hours = HoursOf(options_.now());
  for (const Digest& key : ours) RETURN_IF_ERROR(index.StampResult(key, hours));
  for (const Digest& key : others) RETURN_IF_ERROR(index.StampActionResult(key, hours));
  return absl::OkStatus();
}

absl::Status LocalStore::WriteIndex(std::unique_ptr<IndexBatch> index) {
  absl::Status status = StampUses(*index);
  if (status.ok()) status = index_->Write(std::move(index));
  if (status.ok() && checkpoint_bytes_ > options_.checkpoint_bytes) {
    checkpoint_bytes_ = 0;
    status = index_->Flush(/*wait=*/false);
  }
  if (status.ok()) return status;
  // The segments hold more than the index knows. Going on would let the index step over it.
  Break(status);
  return broken_;
}

void LocalStore::DropPending(const std::vector<LocatedBlob>& blobs) {
  const base::MutexLock lock(mutex_);
  for (const auto& [digest, location] : blobs) {
    if (pending_.erase(digest) != 0) pending_bytes_ -= digest.size_bytes();
  }
}

// Raises the epoch before anything else of a loss is written: whoever relies on what was there must
// not miss that it is gone.
absl::Status LocalStore::RaiseEpoch(IndexBatch& index) {
  const uint64_t epoch = index_->epoch() + 1;
  RETURN_IF_ERROR(WriteEpoch(directory_, epoch));
  {
    const base::MutexLock lock(mutex_);
    loss_epoch_ = epoch;
  }
  return index.SetEpoch(epoch);
}

absl::StatusOr<uint64_t> LocalStore::Publish(const PublishedRoot& root) {
  const base::MutexLock lock(commit_mutex_);
  ASSIGN_OR_RETURN(const auto found, Locate(std::span(&root.root, 1)));
  if (!found[0].has_value()) {
    return absl::FailedPreconditionError(
        fmt::format("root {} is not in the store: put its Directories before it is published",
                    root.root.ToString()));
  }
  ASSIGN_OR_RETURN(const std::vector<IndexedRoot> roots, index_->Roots(root.project_id));
  PublishedRoot published = root;
  published.sequence = 1;
  for (const IndexedRoot& other : roots) {
    if (other.root.platform == root.platform)
      published.sequence = std::max(published.sequence, other.root.sequence + 1);
  }
  RETURN_IF_ERROR(CommitLocked(Plan(), &published));
  return published.sequence;
}

absl::Status LocalStore::Forget(std::span<const Digest> action_keys) {
  const base::MutexLock lock(commit_mutex_);
  RETURN_IF_ERROR(CommitLocked(Plan(), nullptr));
  ASSIGN_OR_RETURN(const auto places, index_->Results(action_keys));
  std::vector<Digest> known;
  auto index = index_->NewBatch();
  for (size_t i = 0; i < action_keys.size(); ++i) {
    if (!places[i].has_value()) continue;
    known.push_back(action_keys[i]);
    RETURN_IF_ERROR(index->RemoveResult(action_keys[i]));
  }
  if (known.empty()) return absl::OkStatus();
  RETURN_IF_ERROR(
      CheckFreeSpace(directory_, RecordSpan(known.size() * 64), options_.free_bytes_margin));
  RETURN_IF_ERROR(RaiseEpoch(*index));
  {
    const base::MutexLock append_lock(mutex_);
    RecordPlace place;
    RETURN_IF_ERROR(Append(RecordKind::kForgotten, Digest(), EncodeDigests(known), place));
  }
  RETURN_IF_ERROR(SyncOwnAlone());
  RETURN_IF_ERROR(NoteSegments({}, *index));
  return WriteIndex(std::move(index));
}

}  // namespace galley::store

#include "common/store/local/commits.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <set>
#include <utility>

#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "common/store/interface/commit_order.h"
#include "common/store/local/blob_file.h"
#include "common/store/local/layout.h"
#include "common/store/local/write_anew.h"

namespace galley::store {
namespace {

bool HasLesserKey(const SegmentFile::KeyedPayload& one, const SegmentFile::KeyedPayload& other) {
  return one.key < other.key;
}

}  // namespace

Commits::Commits(StoreState& state, StoreReader& reader, StoreWriter& writer)
    : state_(state),
      reader_(reader),
      writer_(writer),
      queue_([this](std::span<const CommitBatch* const> batches) { return CommitGroup(batches); }) {
}

absl::Status Commits::CommitIfRoom() {
  const absl::Status status = Commit({});
  return absl::IsResourceExhausted(status) ? absl::OkStatus() : status;
}

std::vector<absl::Status> Commits::CommitGroup(std::span<const CommitBatch* const> batches) {
  const base::MutexLock lock(writer_.mutex());
  if (const absl::Status writable = writer_.CheckWritable(); !writable.ok())
    return std::vector<absl::Status>(batches.size(), writable);
  CommitPlanner planner(state_, reader_);
  std::vector<absl::Status> outcomes;
  for (const CommitBatch* batch : batches) outcomes.push_back(planner.Add(*batch, writer_));
  if (const absl::Status status = CommitPlanned(planner.Take(), nullptr); !status.ok())
    outcomes.assign(batches.size(), status);
  return outcomes;
}

// Commits what is pending, and the plan.
absl::Status Commits::CommitPlanned(CommitPlan plan, const PublishedRoot* root) {
  RETURN_IF_ERROR(writer_.CheckWritable());
  plan.pending = state_.log.AllPending();
  if (plan.is_empty() && root == nullptr) return absl::OkStatus();
  RETURN_IF_ERROR(writer_.RestoreLog());
  plan.bytes += 4096 + 64 * (plan.adopted.size() + plan.pending.size());
  RETURN_IF_ERROR(state_.folder.CheckSpace(plan.bytes));
  return WriteInOrder(plan, root);
}

absl::Status Commits::WriteInOrder(const CommitPlan& plan, const PublishedRoot* root) {
  IndexBatch index;
  if (plan.is_disputing) {
    RETURN_IF_ERROR(writer_.RaiseEpoch(index));
    index.SetDisputed();
  }
  // The writer's lock is held while they run.
  const CommitSteps steps = {
      .raise_mark =
          [&]() GALLEY_REQUIRES(writer_.mutex()) { return writer_.RaiseMark(plan.Files()); },
      .sync_named = [&]() GALLEY_REQUIRES(writer_.mutex()) { return SyncNamed(plan); },
      .sync_folders = [&]() GALLEY_REQUIRES(writer_.mutex()) { return SyncFolders(plan); },
      .append = [&] { return Append(plan, root, index); },
      .sync_log = [&]() GALLEY_REQUIRES(writer_.mutex()) { return writer_.SyncMarkedLog(); },
      .lower_mark = [&]() GALLEY_REQUIRES(writer_.mutex()) { return writer_.LowerMark(); },
      .index = [&]() GALLEY_REQUIRES(writer_.mutex()) -> absl::Status {
        const absl::Status noted = writer_.NoteSegments(plan.adopted, plan.pending, index);
        if (noted.ok()) return writer_.WriteIndex(index);
        // The log has it already: a later commit would say that it is in the index.
        writer_.Break(noted);
        return noted;
      }};
  RETURN_IF_ERROR(CommitInOrder(steps));
  state_.log.RemovePending(std::span<const LocatedBlob>(plan.pending));
  return absl::OkStatus();
}

absl::Status Commits::SyncPath(const std::string& path) const {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return ErrnoStatus(errno, "open", path);
  if (state_.folder.options.sync(file.get()) != 0) return ErrnoStatus(errno, "sync", path);
  return absl::OkStatus();
}

// Copies a file of which nobody can know whether the disk has its bytes: the copy's sync can be
// believed. After an error the file is gone, and the next writer makes it anew.
absl::Status Commits::CopyFile(const Digest& digest) const {
  const StoreFolder& folder = state_.folder;
  const std::string path = BlobFilePath(folder.directory, digest);
  absl::Status status = CheckBlobFile(folder.directory, digest);
  if (status.ok())
    status =
        WriteAnew(folder.directory, path, folder.options.sync, folder.options.free_bytes_margin);
  if (!status.ok()) ::unlink(path.c_str());
  return status;
}

// Syncs the data that the commit names, of workers and of those who put it.
absl::Status Commits::SyncNamed(const CommitPlan& plan) {
  std::set<uint64_t> segments;
  for (const auto& [digest, location] : plan.adopted) {
    if (location.segment != 0) {
      segments.insert(location.segment);
      continue;
    }
    const absl::Status status = SyncPath(BlobFilePath(state_.folder.directory, digest));
    if (!status.ok()) CopyFile(digest).IgnoreError();  // whoever reported it is told of the failure
    RETURN_IF_ERROR(status);
  }
  RETURN_IF_ERROR(SyncPendingFiles(plan));
  for (const uint64_t segment : segments) RETURN_IF_ERROR(SyncSegment(segment));
  return absl::OkStatus();
}

absl::Status Commits::SyncPendingFiles(const CommitPlan& plan) {
  for (const LocatedBlob& blob : plan.pending) {
    if (blob.second.segment != 0) continue;
    const absl::Status status = SyncPath(BlobFilePath(state_.folder.directory, blob.first));
    if (status.ok()) continue;
    if (const absl::Status copied = CopyFile(blob.first); !copied.ok()) {
      state_.log.RemovePending(std::span<const LocatedBlob>(&blob, 1));
      writer_.Break(copied);
    }
    return status;
  }
  return absl::OkStatus();
}

absl::Status Commits::SyncSegment(uint64_t segment) {
  const std::string path = SegmentPath(state_.folder.directory, segment);
  const absl::Status status = SyncPath(path);
  if (status.ok()) return status;
  const absl::StatusOr<FileStat> stat = StatFile(path);
  writer_.Doubt(segment, stat.ok() ? stat->size_bytes : UINT64_MAX);
  return status;
}

// Syncs the folders that have the names of these files and segments, and of what was put.
absl::Status Commits::SyncFolders(const CommitPlan& plan) {
  const std::string& directory = state_.folder.directory;
  std::set<std::string> folders;
  for (const Digest& digest : plan.Files()) {
    const std::string path = BlobFilePath(directory, digest);
    folders.insert(path.substr(0, path.rfind('/')));
  }
  for (const std::string& folder : folders) RETURN_IF_ERROR(SyncDirectory(folder));
  if (!folders.empty()) RETURN_IF_ERROR(SyncDirectory(JoinPath(directory, "files")));
  RETURN_IF_ERROR(state_.log.SyncFolder());
  return writer_.SyncMarkedLog();
}

// Appends what the log says of the commit. Blobs come before the results that name them.
absl::Status Commits::Append(const CommitPlan& plan, const PublishedRoot* root, IndexBatch& index) {
  std::vector<LocatedBlob> adopted = plan.adopted;
  for (const LocatedBlob& blob : plan.pending) {
    if (blob.second.segment == 0) adopted.push_back(blob);
  }
  index.SetBlobs(plan.pending);
  index.SetBlobs(plan.adopted);
  OwnLog& log = state_.log;
  RETURN_IF_ERROR(log.AppendAdopted(adopted));
  const base::MutexLock lock(log.mutex());
  RETURN_IF_ERROR(AppendSets(plan, index));
  RETURN_IF_ERROR(AppendResults(plan, index));
  for (const auto& [key, payload] : plan.action_results) {
    ASSIGN_OR_RETURN(const RecordPlace place, log.Append(RecordKind::kActionResult, key, payload));
    index.SetActionResult(key, place);
  }
  if (root == nullptr) return absl::OkStatus();
  ASSIGN_OR_RETURN(const RecordPlace place,
                   log.Append(RecordKind::kPublished, root->root, EncodePublished(*root)));
  index.SetRoot(*root, place);
  return absl::OkStatus();
}

// In the order of their keys, so that each goes into the index near the one before.
absl::Status Commits::AppendSets(const CommitPlan& plan, IndexBatch& index) {
  for (const auto& [weak_key, set] : plan.sets_known) index.AddObservationSet(weak_key, set);
  std::vector<SegmentFile::KeyedPayload> records;
  records.reserve(plan.sets.size());
  for (const CommitPlan::SetView& set : plan.sets)
    records.push_back({.key = set.weak_key, .payload = set.bytes});
  std::ranges::stable_sort(records, &HasLesserKey);
  return state_.log.Append(
      RecordKind::kObservationSet, records, [&](size_t i, const RecordPlace& place) {
        index.AddObservationSet(records[i].key,
                                {.place = place, .checksum = Checksum(records[i].payload)});
      });
}

absl::Status Commits::AppendResults(const CommitPlan& plan, IndexBatch& index) {
  std::vector<SegmentFile::KeyedPayload> records;
  records.reserve(plan.results.size());
  for (const PutResult* put : plan.results)
    records.push_back({.key = put->action_key, .payload = put->result});
  std::ranges::stable_sort(records, &HasLesserKey);
  return state_.log.Append(RecordKind::kResult, records, [&](size_t i, const RecordPlace& place) {
    index.SetResult(records[i].key, place);
  });
}

absl::StatusOr<uint64_t> Commits::Publish(const PublishedRoot& root) {
  const base::MutexLock lock(writer_.mutex());
  ASSIGN_OR_RETURN(const auto found, reader_.Locate(std::span(&root.root, 1)));
  if (!found[0].has_value()) {
    return FailedPreconditionError(
        "root {} is not in the store: put its Directories before it is published",
        root.root.ToString());
  }
  ASSIGN_OR_RETURN(const std::vector<IndexedRoot> roots,
                   state_.index.With(&Index::Roots, root.project_id));
  PublishedRoot published = root;
  published.sequence = 1;
  for (const IndexedRoot& other : roots) {
    if (other.root.platform == root.platform)
      published.sequence = std::max(published.sequence, other.root.sequence + 1);
  }
  RETURN_IF_ERROR(CommitPlanned(CommitPlan(), &published));
  return published.sequence;
}

absl::Status Commits::Forget(std::span<const Digest> action_keys) {
  const base::MutexLock lock(writer_.mutex());
  RETURN_IF_ERROR(CommitPlanned(CommitPlan(), nullptr));
  ASSIGN_OR_RETURN(const auto places, state_.index.With(&Index::Results, action_keys));
  std::vector<Digest> known;
  IndexBatch index;
  for (size_t i = 0; i < action_keys.size(); ++i) {
    if (!places[i].has_value()) continue;
    known.push_back(action_keys[i]);
    index.RemoveResult(action_keys[i]);
  }
  if (known.empty()) return absl::OkStatus();
  RETURN_IF_ERROR(state_.folder.CheckSpace(RecordSpan(known.size() * 64)));
  RETURN_IF_ERROR(writer_.RaiseEpoch(index));
  {
    const base::MutexLock append_lock(state_.log.mutex());
    RETURN_IF_ERROR(
        state_.log.Append(RecordKind::kForgotten, Digest(), EncodeDigests(known)).status());
  }
  return writer_.SyncAndIndex(index);
}

void Commits::Close() {
  const base::MutexLock lock(writer_.mutex());
  if (writer_.CheckWritable().ok()) {
    if (const absl::Status status = CommitPlanned(CommitPlan(), nullptr); !status.ok())
      LogWarning("store={} closing: {}", state_.folder.directory, MessageOf(status));
  }
  // Without it the next opening reads the tail again.
  if (const absl::Status status = state_.index.With(&Index::Flush, /*wait=*/true); !status.ok())
    LogWarning("store={} closing: {}", state_.folder.directory, MessageOf(status));
}

}  // namespace galley::store

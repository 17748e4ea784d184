#include "common/store/local/maintenance/why_finder.h"

#include <algorithm>
#include <utility>

#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/folder_names.h"
#include "common/base/status_macros.h"
#include "common/record/result.h"
#include "common/store/interface/kept_roots.h"
#include "common/store/interface/pins.h"
#include "common/store/local/layout.h"
#include "common/store/local/log_records.h"
#include "common/store/local/segment_reader.h"
#include "common/store/local/segment_writer.h"
#include "common/store/local/sessions.h"
#include "common/tree/linked_directory.h"
#include "common/tree/tree.h"
#include "fmt/format.h"

namespace galley::store {
namespace {

std::string TimeText(absl::Time time) {
  return absl::FormatTime(absl::RFC3339_sec, time, absl::UTCTimeZone());
}

bool IsAbsentOrWrong(const absl::Status& status) {
  return absl::IsNotFound(status) || absl::IsDataLoss(status);
}

absl::Time TimeOf(uint64_t seconds) {
  return seconds == 0 ? absl::InfinitePast() : absl::FromUnixSeconds(static_cast<int64_t>(seconds));
}

std::string ProvenanceOf(RecordKind kind, const std::string& payload) {
  if (kind == RecordKind::kResult) {
    const absl::StatusOr<record::Result> result = record::DecodeResult(payload);
    if (!result.ok()) return "";
    const record::Provenance& made = result->provenance;
    return fmt::format("cooked by {} on {} ({}) at {}", made.worker, made.machine, made.identity,
                       TimeText(made.started));
  }
  const absl::StatusOr<PutActionResult> put = DecodeActionResult(payload);
  if (!put.ok()) return "";
  return fmt::format("written by {} for action {}{}", put->peer, put->action.ToString(),
                     put->instance.empty() ? "" : " of instance " + put->instance);
}

}  // namespace

absl::StatusOr<WhyReport> WhyFinder::Run() {
  RETURN_IF_ERROR(store_.commits.CommitIfRoom());
  RETURN_IF_ERROR(FindLocation());
  RETURN_IF_ERROR(FindRoots());
  RETURN_IF_ERROR(FindLeases());
  RETURN_IF_ERROR(FindResults());
  if (report_.location.has_value()) {
    report_.written = WrittenAt(*report_.location);
    RETURN_IF_ERROR(FindSessions());
  } else {
    RETURN_IF_ERROR(FindLosses());
  }
  return std::move(report_);
}

// Only what a reader would get is there: the index may not know yet that something was deleted.
absl::Status WhyFinder::FindLocation() {
  std::optional<BlobLocation> before;
  while (true) {
    ASSIGN_OR_RETURN(const auto found, store_.reader.Look(std::span(&digest_, 1)));
    if (!found[0].has_value()) return absl::OkStatus();
    const absl::Status readable = CheckReadable(*found[0]);
    if (!IsAbsentOrWrong(readable)) {
      report_.location = found[0];
      return readable;
    }
    // A compaction may have moved it meanwhile.
    if (before == found[0]) {
      unnoticed_ = fmt::format("not noticed yet: {}", MessageOf(readable));
      return absl::OkStatus();
    }
    before = found[0];
  }
}

// Looks whether a large blob's file is there with its size; reading it may take long.
absl::Status WhyFinder::CheckReadable(const BlobLocation& location) const {
  if (location.segment != 0) return ReadBlobAt(store_.folder.directory, digest_, location).status();
  if (digest_ == Digest()) return absl::OkStatus();
  const std::string path = BlobFilePath(store_.folder.directory, digest_);
  ASSIGN_OR_RETURN(const FileStat stat, StatFile(path));
  if (stat.size_bytes == digest_.size_bytes()) return absl::OkStatus();
  return DataLossError("{} has {} bytes", path, stat.size_bytes);
}

absl::Time WhyFinder::WrittenAt(const BlobLocation& location) const {
  if (location.segment == 0) {
    const absl::StatusOr<FileStat> stat = StatFile(BlobFilePath(store_.folder.directory, digest_));
    return stat.ok() ? absl::FromUnixNanos(stat->mtime_ns) : absl::InfinitePast();
  }
  const absl::StatusOr<RecordHeader> header =
      ReadRecordHeader(store_.folder.directory, location.segment, location.offset);
  return header.ok() ? TimeOf(header->written_s) : absl::InfinitePast();
}

absl::Status WhyFinder::FindRoots() {
  ASSIGN_OR_RETURN(const std::vector<PublishedRoot> roots, store_.reader.Roots(""));
  const std::vector<PublishedRoot> kept = KeptRoots(roots);
  for (const PublishedRoot& root : roots) {
    if (IsRemovedPin(root)) continue;
    ASSIGN_OR_RETURN(const std::optional<std::string> path, PathIn(root.root, 0));
    if (!path.has_value()) continue;
    if (report_.roots.size() == limit_) {
      ++report_.roots_more;
      continue;
    }
    const bool is_kept = std::ranges::any_of(kept, [&](const PublishedRoot& one) {
      return one.project_id == root.project_id && one.platform == root.platform &&
             one.sequence == root.sequence;
    });
    report_.roots.push_back({.root = root, .is_kept = is_kept, .path = *path});
  }
  return absl::OkStatus();
}

absl::Status WhyFinder::FindLeases() {
  for (const RootLease& lease : store_.leases.All(store_.folder.options.now())) {
    ASSIGN_OR_RETURN(const std::optional<std::string> path, PathIn(lease.root, 0));
    if (!path.has_value()) continue;
    if (report_.leases.size() == limit_) {
      ++report_.leases_more;
    } else {
      report_.leases.push_back({.lease = lease, .path = *path});
    }
  }
  return absl::OkStatus();
}

// Returns one of the blob's paths in a folder; nullopt: the blob is not in the folder, as far as
// its folders can be read.
absl::StatusOr<std::optional<std::string>> WhyFinder::PathIn(const Digest& folder, size_t depth) {
  if (folder == digest_) return std::optional<std::string>("");
  if (const auto known = paths_.find(folder); known != paths_.end()) return known->second;
  std::optional<std::string> path;
  const absl::StatusOr<Blob> bytes = store_.reader.GetUntold(folder);
  if (!bytes.ok() && !IsAbsentOrWrong(bytes.status())) return bytes.status();
  const absl::StatusOr<tree::LinkedDirectory> directory =
      bytes.ok() ? tree::DecodeLinkedDirectory(**bytes) : bytes.status();
  if (directory.ok() && depth < tree::kTreeDepthMax) {
    for (const tree::FileNode& file : directory->files) {
      if (file.digest == digest_) path = file.name;
    }
    for (auto inner = directory->directories.begin();
         !path.has_value() && inner != directory->directories.end(); ++inner) {
      ASSIGN_OR_RETURN(const std::optional<std::string> below, PathIn(inner->digest, depth + 1));
      if (below.has_value()) path = below->empty() ? inner->name : JoinPath(inner->name, *below);
    }
  }
  paths_[folder] = path;
  return path;
}

absl::Status WhyFinder::FindResults() {
  for (const RecordKind kind : {RecordKind::kResult, RecordKind::kActionResult}) {
    const auto visit = [&](const Digest& key, const ResultPlace& place) -> absl::Status {
      const absl::StatusOr<Record> record =
          ReadRecord(store_.folder.directory, place.segment, place.offset);
      if (IsAbsentOrWrong(record.status())) return absl::OkStatus();
      RETURN_IF_ERROR(record.status());
      const std::vector<Digest> named = store_.reader.NamedBy(kind, record->payload);
      const bool is_output = std::ranges::find(named, digest_) != named.end();
      bool is_input = false;
      if (!is_output && kind == RecordKind::kResult) {
        ASSIGN_OR_RETURN(is_input, IsInputOf(key));
      }
      if (!is_output && !is_input) return absl::OkStatus();
      if (report_.results.size() == limit_) {
        ++report_.results_more;
        return absl::OkStatus();
      }
      report_.results.push_back({.key = key,
                                 .is_ours = kind == RecordKind::kResult,
                                 .provenance = ProvenanceOf(kind, record->payload),
                                 .written = TimeOf(record->header.written_s),
                                 .used = TimeOf(uint64_t{place.used_hours} * 3600),
                                 .is_input = is_input});
      return absl::OkStatus();
    };
    RETURN_IF_ERROR(store_.index.Walk(
        kind == RecordKind::kResult ? &Index::ForEachResult : &Index::ForEachActionResult, visit));
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> WhyFinder::IsInputOf(const Digest& action_key) {
  ASSIGN_OR_RETURN(const std::vector<Digest> inputs, store_.reader.InputsOf(action_key));
  return std::ranges::find(inputs, digest_) != inputs.end();
}

// The sessions for which a collection would keep the blob.
absl::Status WhyFinder::FindSessions() {
  ASSIGN_OR_RETURN(const std::vector<SessionInfo> sessions, LiveSessions(store_.folder.directory));
  const absl::Time now = store_.folder.options.boot_time();
  for (const SessionInfo& session : sessions) {
    const bool is_older = session.begun < store_.reported_present.begun();
    if (!is_older && !store_.reported_present.WasTold(digest_, session.begun)) continue;
    report_.sessions.push_back(
        fmt::format("{}{}", DescribeSession(session, now),
                    is_older ? ": it is older than the store's owner, so nobody knows" : ""));
  }
  return absl::OkStatus();
}

// Finds what became of the blob, by the log and by what lies in the quarantine.
absl::Status WhyFinder::FindLosses() {
  std::vector<std::pair<absl::Time, std::string>> past;
  ASSIGN_OR_RETURN(const auto states, store_.index.With(&Index::Segments));
  for (const auto& [number, state] : states) {
    if (state.writer != SegmentWriterKind::kOwner) continue;
    const RecordVisitor visit = [&](uint64_t, const RecordHeader& header,
                                    std::string_view payload) -> absl::Status {
      if (header.kind != RecordKind::kLoss) return absl::OkStatus();
      const absl::StatusOr<Loss> loss = DecodeLoss(payload);
      if (!loss.ok() || std::ranges::find(loss->blobs, digest_) == loss->blobs.end())
        return absl::OkStatus();
      past.emplace_back(TimeOf(header.written_s),
                        fmt::format("dropped in loss epoch {}, by a collection or because its "
                                    "bytes were wrong",
                                    loss->epoch));
      return absl::OkStatus();
    };
    const absl::Status scanned =
        ScanSegment(store_.folder.directory, number, kSegmentHeaderBytes, visit).status();
    if (!IsAbsentOrWrong(scanned)) RETURN_IF_ERROR(scanned);
  }
  const std::string name = fmt::format("{}-{}", digest_.hex(), digest_.size_bytes());
  const std::string quarantine = QuarantineDirectory(store_.folder.directory);
  for (const std::string& kept : NamesIn(quarantine)) {
    if (!kept.starts_with(name)) continue;
    const std::string path = JoinPath(quarantine, kept);
    const absl::StatusOr<FileStat> stat = StatFile(path);
    past.emplace_back(stat.ok() ? absl::FromUnixNanos(stat->ctime_ns) : absl::InfinitePast(),
                      fmt::format("its bytes were wrong: {}", path));
  }
  std::ranges::sort(past);
  for (const auto& [time, text] : past) {
    report_.past.push_back(
        time == absl::InfinitePast() ? text : fmt::format("{}: {}", TimeText(time), text));
  }
  if (!unnoticed_.empty()) report_.past.push_back(unnoticed_);
  return absl::OkStatus();
}

}  // namespace galley::store

#include "common/store/local/maintenance/salvager.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/store/interface/kept_roots.h"
#include "common/store/local/layout.h"
#include "common/store/local/segment_reader.h"
#include "common/store/local/write_anew.h"
#include "common/tree/linked_directory.h"
#include "fmt/format.h"

namespace galley::store {
namespace {

constexpr size_t kSalvagedAtOnce = 256;
constexpr int kSalvageRoundsMax = 8;

}  // namespace

absl::Status Salvager::Run() {
  // A folder that was found may name more.
  for (int round = 0; round < kSalvageRoundsMax; ++round) {
    absl::flat_hash_set<Digest> wanted;
    RETURN_IF_ERROR(WantedByResults(wanted));
    RETURN_IF_ERROR(WantedByTrees(wanted));
    if (wanted.empty()) return absl::OkStatus();
    const size_t before = wanted.size();
    RETURN_IF_ERROR(SalvageFiles(wanted));
    RETURN_IF_ERROR(SalvageRecords(wanted));
    RETURN_IF_ERROR(store_.commits.Commit({}));
    if (wanted.size() == before) return absl::OkStatus();
  }
  return absl::OkStatus();
}

absl::Status Salvager::WantedByResults(absl::flat_hash_set<Digest>& wanted) {
  for (const RecordKind kind : {RecordKind::kResult, RecordKind::kActionResult}) {
    KeyRange range{.after = std::nullopt, .keys_max = kSalvagedAtOnce};
    while (true) {
      std::vector<std::pair<Digest, RecordPlace>> page;
      std::vector<Digest> named;
      const auto add = [&](const Digest& key, const RecordPlace& place) {
        page.emplace_back(key, place);
        return absl::OkStatus();
      };
      RETURN_IF_ERROR(store_.index.Walk(
          kind == RecordKind::kResult ? &Index::ForEachResult : &Index::ForEachActionResult, range,
          add));
      if (page.empty()) break;
      for (const auto& [key, place] : page) {
        const absl::StatusOr<std::string> bytes = store_.reader.ReadLogged(kind, key, place);
        RETURN_IF_ERROR(pace_.Used(kRecordHeaderBytes + (bytes.ok() ? bytes->size() : 0)));
        if (!bytes.ok()) continue;
        const std::vector<Digest> of_one = store_.reader.NamedBy(kind, *bytes);
        named.insert(named.end(), of_one.begin(), of_one.end());
        if (kind != RecordKind::kResult) continue;
        ASSIGN_OR_RETURN(const std::vector<Digest> inputs, store_.reader.InputsOf(key));
        named.insert(named.end(), inputs.begin(), inputs.end());
      }
      RETURN_IF_ERROR(AddMissing(named, wanted));
      range.after = page.back().first;
    }
  }
  return absl::OkStatus();
}

absl::Status Salvager::AddMissing(const std::vector<Digest>& digests,
                                  absl::flat_hash_set<Digest>& wanted) {
  ASSIGN_OR_RETURN(const auto found, store_.reader.Look(digests));
  for (size_t i = 0; i < digests.size(); ++i) {
    if (!found[i].has_value()) wanted.insert(digests[i]);
  }
  return absl::OkStatus();
}

// The blobs of the trees that are not collected now.
absl::Status Salvager::WantedByTrees(absl::flat_hash_set<Digest>& wanted) {
  ASSIGN_OR_RETURN(const std::vector<PublishedRoot> roots, store_.reader.Roots(""));
  absl::flat_hash_set<Digest> visited;
  std::vector<Digest> left;
  for (const PublishedRoot& root : KeptRoots(roots)) left.push_back(root.root);
  for (const RootLease& lease : store_.leases.All(store_.folder.options.now()))
    left.push_back(lease.root);
  while (!left.empty()) {
    const Digest folder = left.back();
    left.pop_back();
    if (!visited.insert(folder).second) continue;
    const absl::StatusOr<Blob> bytes = store_.reader.GetUntold(folder);
    std::vector<Digest> named = {folder};
    if (bytes.ok()) {
      RETURN_IF_ERROR(pace_.Used((*bytes)->size()));
      const absl::StatusOr<tree::LinkedDirectory> directory = tree::DecodeLinkedDirectory(**bytes);
      if (!directory.ok()) continue;  // no tree of ours
      for (const auto& file : directory->files) named.push_back(file.digest);
      for (const auto& inner : directory->directories) left.push_back(inner.digest);
    }
    RETURN_IF_ERROR(AddMissing(named, wanted));
  }
  return absl::OkStatus();
}

absl::Status Salvager::SalvageFiles(absl::flat_hash_set<Digest>& wanted) {
  std::vector<Digest> found;
  for (const Digest& digest : wanted) {
    const std::string path = BlobFilePath(store_.folder.directory, digest);
    if (!FileExists(path) || !pace_.Read({digest, BlobLocation{}}).ok()) continue;
    RETURN_IF_ERROR(WriteAnew(store_.folder.directory, path, store_.folder.options.sync,
                              store_.folder.options.free_bytes_margin));
    RETURN_IF_ERROR(store_.puts.NoteFile(digest));
    found.push_back(digest);
  }
  for (const Digest& digest : found) NoteSalvaged(digest, wanted);
  return absl::OkStatus();
}

absl::Status Salvager::SalvageRecords(absl::flat_hash_set<Digest>& wanted) {
  if (wanted.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::vector<SegmentListing> segments,
                   ListSegments(store_.folder.directory));
  for (const SegmentListing& segment : segments) {
    const RecordVisitor visit = [&](uint64_t, const RecordHeader& header,
                                    std::string_view payload) -> absl::Status {
      RETURN_IF_ERROR(pace_.Used(RecordSpan(payload.size())));
      if (header.kind != RecordKind::kBlob || !wanted.contains(header.key) ||
          Digest::Of(payload) != header.key)
        return absl::OkStatus();
      RETURN_IF_ERROR(store_.puts.Put(header.key, payload));
      NoteSalvaged(header.key, wanted);
      return absl::OkStatus();
    };
    const absl::Status scanned =
        ScanSegment(store_.folder.directory, segment.number, kSegmentHeaderBytes, visit).status();
    if (!absl::IsNotFound(scanned)) RETURN_IF_ERROR(scanned);
  }
  return absl::OkStatus();
}

void Salvager::NoteSalvaged(Digest digest, absl::flat_hash_set<Digest>& wanted) {
  wanted.erase(digest);
  cursor_.AddProblem(fmt::format(
      "blob {}: it was not known, though it lies there and is needed; it is known again",
      digest.ToString()));
}

}  // namespace galley::store

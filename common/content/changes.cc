#include "common/content/changes.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <set>
#include <thread>
#include <utility>

#include "common/base/racy.h"
#include "common/base/threads.h"
#include "common/content/snapshot_files.h"
#include "common/content/stamp_table.h"

namespace galley::content {
namespace {

// Runs `look(i)` for every i below `count` on a few threads.
void InParallel(size_t count, const std::function<void(size_t)>& look) {
  constexpr size_t kEachMin = 16;
  const size_t cores = std::clamp<size_t>(std::thread::hardware_concurrency(), 1, 8);
  std::atomic<size_t> next = 0;
  RunOnThreads(std::min(cores, count / kEachMin), [&](size_t) {
    for (size_t i = next++; i < count; i = next++) look(i);
  });
}

}  // namespace

std::vector<Change> DiffSnapshots(const Snapshot& before, Snapshot& now,
                                  std::vector<std::string>* touched, const Cancellation* stop) {
  const SnapshotFiles& old = *before.files_;
  const SnapshotFiles& young = *now.files_;
  std::vector<Change> changes;
  std::vector<std::pair<std::string, Digest>> suspects;  // changed unless `now` finds this digest
  const auto compare = [&](size_t i, size_t j) {
    const FileEntry& a = old.Entry(i);
    const FileEntry& b = young.Entry(j);
    if (!a.error.empty() && a.error == b.error) return;
    if (!a.error.empty() || !b.error.empty()) {
      changes.push_back({a.path, true, true});
      return;
    }
    const bool is_same = a.stat == b.stat && a.host_path == b.host_path;
    const std::optional<HashedDigest> known = old.Taken(i);
    if (is_same && !IsRacy(a.stat, known ? known->hashed_ns : old.SeenAt(i))) return;
    if (known && b.stat.size_bytes < kHashedHereMax) {
      suspects.emplace_back(a.path, known->digest);
    } else {
      changes.push_back({a.path, true, true});
    }
  };
  if (now.IsRevisionOf(before)) {
    std::set<uint32_t> looked_at;
    for (const SnapshotFiles* one : {&old, &young}) {
      for (const auto& [index, row] : one->replaced) looked_at.insert(index);
    }
    for (const uint32_t index : looked_at) compare(index, index);
  } else {
    const size_t old_size = old.rows->size(), young_size = young.rows->size();
    size_t i = 0;
    size_t j = 0;
    while (i < old_size || j < young_size) {
      const int order = i == old_size     ? 1
                        : j == young_size ? -1
                                          : old.Entry(i).path.compare(young.Entry(j).path);
      if (order == 0) compare(i, j);
      if (order < 0) changes.push_back({old.Entry(i).path, true, false});
      if (order > 0) changes.push_back({young.Entry(j).path, false, true});
      if (order <= 0) ++i;
      if (order >= 0) ++j;
    }
  }
  std::vector<char> differs(suspects.size(), 0);
  InParallel(suspects.size(), [&](size_t k) {
    const absl::StatusOr<Digest> digest = now.DigestOf(suspects[k].first, stop);
    differs[k] = !digest.ok() || *digest != suspects[k].second;
  });
  for (size_t k = 0; k < suspects.size(); ++k) {
    if (differs[k]) {
      changes.push_back({suspects[k].first, true, true});
    } else if (touched != nullptr) {
      touched->push_back(suspects[k].first);
    }
  }
  std::ranges::sort(changes, [](const Change& a, const Change& b) { return a.path < b.path; });
  return changes;
}

}  // namespace galley::content

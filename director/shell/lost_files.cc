#include "director/shell/lost_files.h"

#include <algorithm>
#include <atomic>
#include <set>
#include <thread>

#include "absl/container/flat_hash_set.h"
#include "common/base/mutex.h"
#include "common/base/sort_unique.h"
#include "common/base/status_macros.h"
#include "common/base/threads.h"

namespace galley::director {

namespace {

constexpr size_t kResultsAtOnce = 4096;

// Returns the `digests` that `ask` names, and asks for at most kFilesAtOnce at a time.
template <typename Ask>
absl::StatusOr<absl::flat_hash_set<Digest>> Which(std::vector<Digest> digests, const Ask& ask) {
  SortUnique(digests);
  absl::flat_hash_set<Digest> named;
  for (size_t begin = 0; begin < digests.size(); begin += kFilesAtOnce) {
    const auto some =
        std::span(digests).subspan(begin, std::min(kFilesAtOnce, digests.size() - begin));
    ASSIGN_OR_RETURN(const std::vector<Digest> of_some, ask(some));
    named.insert(of_some.begin(), of_some.end());
  }
  return named;
}

// Returns the `digests` that the store lacks.
absl::StatusOr<absl::flat_hash_set<Digest>> Missing(store::Store& store,
                                                    std::vector<Digest> digests) {
  return Which(std::move(digests),
               [&](std::span<const Digest> some) { return store.FindMissing(some); });
}

// Unusable: the keys for which the store has no result, or a disputed result.
struct Unusable {
  std::set<Digest> disputed;
  bool has_absent = false;
};

// Reads the results, because only a result says whether it is in dispute. Runs on all processors.
absl::StatusOr<Unusable> FindUnusable(store::Store& store, std::span<const Digest> keys) {
  Unusable unusable;
  absl::Status failed;
  std::atomic<size_t> next = 0;
  base::Mutex mutex;
  const auto look = [&](std::span<const Digest> some) -> absl::Status {
    ASSIGN_OR_RETURN(const auto results, store.Results(some));
    for (size_t i = 0; i < some.size(); ++i) {
      const auto result = results[i].has_value()
                              ? record::DecodeResult(*results[i])
                              : absl::StatusOr<record::Result>(absl::NotFoundError(""));
      const bool is_absent = !results[i].has_value();
      if (!is_absent && (!result.ok() || !result->is_disputed)) continue;
      const base::MutexLock lock(mutex);
      unusable.has_absent |= is_absent;
      if (!is_absent) unusable.disputed.insert(some[i]);
    }
    return absl::OkStatus();
  };
  const size_t parts = (keys.size() + kResultsAtOnce - 1) / kResultsAtOnce;
  RunOnThreads(
      std::clamp<size_t>(std::thread::hardware_concurrency(), 1, std::max<size_t>(parts, 1)),
      [&](size_t) {
        for (size_t part = next++; part < parts; part = next++) {
          const size_t begin = part * kResultsAtOnce;
          const absl::Status looked =
              look(keys.subspan(begin, std::min(kResultsAtOnce, keys.size() - begin)));
          if (looked.ok()) continue;
          const base::MutexLock lock(mutex);
          failed.Update(looked);
          return;
        }
      });
  RETURN_IF_ERROR(failed);
  return unusable;
}

}  // namespace

absl::StatusOr<std::vector<RootBuilt::Lost>> LostFiles(store::Store& store,
                                                       std::span<const tree::TreeFile> files,
                                                       std::span<const PackageId> owners) {
  std::vector<Digest> digests;
  for (const tree::TreeFile& file : files) digests.push_back(file.digest);
  ASSIGN_OR_RETURN(const absl::flat_hash_set<Digest> missing, Missing(store, std::move(digests)));
  std::vector<RootBuilt::Lost> lost;
  for (size_t i = 0; i < files.size(); ++i) {
    if (missing.contains(files[i].digest))
      lost.push_back({.package = owners[i], .path = files[i].path, .digest = files[i].digest});
  }
  return lost;
}

absl::StatusOr<std::vector<std::string>> PackagesThatLost(Journal& journal, store::Store& store) {
  struct Asked {
    std::string package;
    size_t keys_end, digests_end;
  };
  std::vector<Asked> asked;
  std::vector<Digest> keys, digests;
  std::set<std::string> revoked;  // packages
  ASSIGN_OR_RETURN(const std::vector<record::Revocation> revocations, store.Revocations());
  RETURN_IF_ERROR(journal.ForEach([&](std::string_view package, const PackageRecord& record) {
    for (const auto& [platform, one] : record.platforms) {
      const auto result = record::DecodeResult(one.result);
      if (!result.ok() || result->is_disputed) continue;
      if (record::IsRevoked(result->provenance, revocations)) revoked.emplace(package);
      keys.push_back(one.action_key);
      for (const record::Output& output : result->outputs) digests.push_back(output.digest);
      for (const record::Generated& generated : result->details.generated)
        digests.push_back(generated.source);
    }
    asked.push_back({std::string(package), keys.size(), digests.size()});
  }));
  ASSIGN_OR_RETURN(const Unusable unusable, FindUnusable(store, keys));
  const std::set<Digest>& disputed = unusable.disputed;
  ASSIGN_OR_RETURN(const absl::flat_hash_set<Digest> missing, Missing(store, digests));
  std::vector<std::string> lost;
  auto key = keys.begin();
  auto digest = digests.begin();
  for (Asked& one : asked) {
    const auto keys_end = keys.begin() + static_cast<ptrdiff_t>(one.keys_end);
    const auto digests_end = digests.begin() + static_cast<ptrdiff_t>(one.digests_end);
    if (revoked.contains(one.package) ||
        std::any_of(key, keys_end, [&](const Digest& each) { return disputed.contains(each); }) ||
        std::any_of(digest, digests_end,
                    [&](const Digest& each) { return missing.contains(each); }))
      lost.push_back(std::move(one.package));
    key = keys_end;
    digest = digests_end;
  }
  return lost;
}

absl::StatusOr<bool> AreWhole(store::Store& store, std::span<const Digest> roots,
                              std::span<const Digest> keys) {
  std::vector<Digest> digests;
  for (const Digest& root : roots) {
    const auto files =
        tree::ListTree(root, [&](const Digest& folder) { return store.Get(folder); });
    if (absl::IsNotFound(files.status()) || absl::IsDataLoss(files.status())) return false;
    RETURN_IF_ERROR(files.status());
    for (const tree::TreeFile& file : *files) digests.push_back(file.digest);
  }
  ASSIGN_OR_RETURN(const absl::flat_hash_set<Digest> missing, Missing(store, std::move(digests)));
  if (!missing.empty()) return false;
  ASSIGN_OR_RETURN(const Unusable unusable, FindUnusable(store, keys));
  if (!unusable.disputed.empty()) return false;
  // An absent result may have been taken back, which only a cook can tell.
  if (!unusable.has_absent) return true;
  ASSIGN_OR_RETURN(const std::vector<record::Revocation> revocations, store.Revocations());
  return revocations.empty();
}

absl::StatusOr<std::vector<RootBuilt::Lost>> LookForLostFiles(store::Store& store,
                                                              const ResultTable& results,
                                                              const LookForLost& look) {
  std::vector<RootBuilt::Lost> named;
  std::vector<RootBuilt::Lost> lost;
  for (const auto& [package, id] : look.packages) {
    const StoredResultPtr stored = results.Get(id);
    if (stored == nullptr) continue;
    if (results.IsDisputed(id))
      lost.push_back({package, stored->package, stored->action_key, id, /*is_disputed=*/true});
    for (const record::Output& output : stored->result.outputs)
      named.push_back({package, stored->package + output.suffix, output.digest, id});
    for (const record::Generated& generated : stored->result.details.generated)
      named.push_back({package, stored->package + "/" + generated.name, generated.source, id});
  }
  std::vector<Digest> digests;
  for (const RootBuilt::Lost& one : named) digests.push_back(one.digest);
  ASSIGN_OR_RETURN(const absl::flat_hash_set<Digest> gone,
                   Which(std::move(digests),
                         [&](std::span<const Digest> some) { return store.FindLost(some); }));
  for (RootBuilt::Lost& one : named) {
    if (gone.contains(one.digest)) lost.push_back(std::move(one));
  }
  return lost;
}

absl::StatusOr<std::vector<std::string>> DistrustLost(
    Journal& journal, const ResultTable& results,
    std::span<const std::pair<PackageId, ResultId>> packages,
    std::span<const RootBuilt::Lost> lost) {
  std::set<PackageId> owners;
  for (const RootBuilt::Lost& one : lost) owners.insert(one.package);
  std::set<std::string> names;
  for (const auto& [package, result] : packages) {
    if (!owners.contains(package)) continue;
    if (const StoredResultPtr stored = results.Get(result); stored != nullptr)
      names.insert(stored->package);
  }
  std::vector<std::string> sorted(names.begin(), names.end());
  if (!sorted.empty()) RETURN_IF_ERROR(journal.Invalidate(sorted, journal.meta()));
  return sorted;
}

}  // namespace galley::director

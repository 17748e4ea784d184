#include "director/shell/lost_files.h"

#include <algorithm>
#include <set>

#include "absl/container/flat_hash_set.h"
#include "common/base/status_macros.h"

namespace galley::director {

absl::StatusOr<std::vector<RootBuilt::Lost>> LostFiles(store::Store& store,
                                                       std::span<const tree::TreeFile> files,
                                                       std::span<const PackageId> owners) {
  std::vector<Digest> digests;
  for (const tree::TreeFile& file : files) digests.push_back(file.digest);
  std::sort(digests.begin(), digests.end());
  digests.erase(std::unique(digests.begin(), digests.end()), digests.end());
  absl::flat_hash_set<Digest> missing;
  for (size_t begin = 0; begin < digests.size(); begin += kFilesAtOnce) {
    const auto some =
        std::span(digests).subspan(begin, std::min(kFilesAtOnce, digests.size() - begin));
    ASSIGN_OR_RETURN(const std::vector<Digest> of_some, store.FindMissing(some));
    missing.insert(of_some.begin(), of_some.end());
  }
  std::vector<RootBuilt::Lost> lost;
  for (size_t i = 0; i < files.size(); ++i) {
    if (missing.contains(files[i].digest))
      lost.push_back({.package = owners[i], .path = files[i].path, .digest = files[i].digest});
  }
  return lost;
}

absl::Status DistrustDisputed(Journal& journal, ResultTable& results) {
  const std::set<Digest> keys = results.TakeNewDisputes();
  if (keys.empty()) return absl::OkStatus();
  std::vector<std::string> packages;
  RETURN_IF_ERROR(journal.ForEach([&](std::string_view package, const PackageRecord& record) {
    const bool has_one = std::any_of(
        record.platforms.begin(), record.platforms.end(),
        [&](const auto& platform) { return keys.contains(platform.second.action_key); });
    if (has_one) packages.emplace_back(package);
  }));
  return packages.empty() ? absl::OkStatus() : journal.Invalidate(packages, journal.meta());
}

absl::StatusOr<std::vector<std::string>> DistrustLost(Journal& journal, const ResultTable& results,
                                                      const BuildRoot& request,
                                                      std::span<const RootBuilt::Lost> lost) {
  std::set<PackageId> owners;
  for (const RootBuilt::Lost& one : lost) owners.insert(one.package);
  std::vector<std::string> packages;
  for (const auto& [package, result] : request.packages) {
    if (!owners.contains(package)) continue;
    if (const StoredResultPtr stored = results.Get(result); stored != nullptr)
      packages.push_back(stored->package);
  }
  if (!packages.empty()) RETURN_IF_ERROR(journal.Invalidate(packages, journal.meta()));
  return packages;
}

}  // namespace galley::director

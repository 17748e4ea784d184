#include "director/shell/renamed_packages.h"

#include <cstdint>
#include <map>
#include <tuple>
#include <utility>

namespace galley::director {
namespace {

using Place = std::tuple<uint64_t, uint64_t, uint64_t, int64_t>;

Place PlaceOf(const content::FileEntry& file) {
  return {file.stat.device, file.stat.inode, file.stat.size_bytes, file.stat.mtime_ns};
}

// Returns the packages that only `world` has and `other` has not, by place on the disk; a place
// with several packages (hard links) maps to "".
std::map<Place, std::string> ByPlace(const std::vector<content::Change>& changes,
                                     const World& world, const World& other) {
  std::map<Place, std::string> by_place;
  for (const content::Change& change : changes) {
    if (change.was_there == change.is_there) continue;
    const content::FileEntry* const file = world.snapshot->Find(change.path);
    if (file == nullptr || !world.table->Find(change.path) || other.table->Find(change.path))
      continue;
    const auto [at, is_new] = by_place.emplace(PlaceOf(*file), change.path);
    if (!is_new) at->second.clear();
  }
  return by_place;
}

}  // namespace

std::vector<FilesChanged::Renamed> RenamedPackages(const std::vector<content::Change>& changes,
                                                   const World& before, const World& now) {
  const std::map<Place, std::string> came = ByPlace(changes, now, before);
  std::map<std::string, std::string> renamed;
  for (const auto& [place, from] : ByPlace(changes, before, now)) {
    const auto to = came.find(place);
    if (!from.empty() && to != came.end() && !to->second.empty()) renamed[from] = to->second;
  }
  std::vector<FilesChanged::Renamed> all;
  for (auto& [from, to] : renamed) all.push_back({from, std::move(to)});
  return all;
}

}  // namespace galley::director

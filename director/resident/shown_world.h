// ShownWorld: a world as devices see it: its number among the worlds that devices have seen, its
// identity, and for each platform the index of paths.
//
// Threads: immutable; any.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/cancellation.h"
#include "common/base/digest.h"
#include "common/content/snapshot.h"
#include "common/store/interface/store.h"
#include "director/devices/device_sessions.h"
#include "director/devices/device_world.h"
#include "director/devices/static_entry.h"
#include "director/shell/path_index.h"
#include "director/shell/world.h"

namespace galley::director {

struct ShownPlatform {
  PlatformIndex index = 0;
  std::shared_ptr<const PathIndex> paths;
};

// FileSum: the sum of the hashes of the stamps of all files, in any order, so that the sum of an
// edited world costs the files that differ.
struct FileSum {
  std::array<uint64_t, 4> words{};
  uint64_t count = 0;
  void Add(const content::FileEntry& file);
  void Remove(const content::FileEntry& file);
  bool operator==(const FileSum&) const = default;
};
FileSum SumOf(const content::Snapshot& snapshot);

struct ShownWorld {
  uint64_t number = 0;  // ascends; other than World::number, which is the shell's
  WorldPtr world;
  FileSum files;
  Digest rules;     // PresentProject::RulesOf
  Digest identity;  // DeviceWorld::identity
  std::map<std::string, ShownPlatform, std::less<>> platforms;

  // nullptr: the project has no such platform.
  const ShownPlatform* Find(std::string_view platform) const {
    const auto found = platforms.find(platform);
    return found == platforms.end() ? nullptr : &found->second;
  }
};
using ShownWorldPtr = std::shared_ptr<const ShownWorld>;

// The identity of the world: of `rules` (PresentProject::RulesOf), the environment, and the stamps
// of all files. A file that was edited has another stamp, so two worlds that differ have two
// identities; a director that was restarted finds the same one.
Digest IdentityOf(const World& world, const FileSum& files, const Digest& rules);

// `rules`: PresentProject::RulesOf. Cost: linear in the files.
ShownWorldPtr ShowWorld(uint64_t number, const WorldPtr& world, const Digest& rules);
// The same world at the cost of `paths`: every file that has another stamp in `before` is among
// them.
ShownWorldPtr ShowNext(const ShownWorld& before, uint64_t number, const WorldPtr& world,
                       const Digest& rules, std::span<const std::string> paths);

// The cultures among `asked` that the world has: a file lies in <mount>/L10N/<culture>. Others
// decide nothing of what devices see, so they make no other tree. Keeps the order.
std::vector<std::string> CulturesIn(const ShownWorld& shown, const std::vector<std::string>& asked);

// The world that the audience sees.
devices::DeviceWorld DeviceWorldOf(const std::string& project_id, const ShownWorld& shown,
                                   const devices::Audience& audience);

// Says whether devices see the package as a file before it is cooked: a small file of the cooker
// `copy`.
bool IsSmallCopy(const ShownWorld& shown, const ShownPlatform& platform,
                 const std::string& package);
// The file of such a package. nullopt: it is none, or its digest is not known yet.
std::optional<devices::StaticFile> SmallCopyOf(const ShownWorld& shown,
                                               const ShownPlatform& platform,
                                               const std::string& package);

// The package as devices see it before it is cooked. nullopt: the world does not show it. Hashes a
// small file of the cooker `copy`. ABORTED: the file has changed since. CANCELLED: `stop`, which
// may be null.
absl::StatusOr<std::optional<devices::ShownPackage>> ShowPackage(const ShownWorld& shown,
                                                                 const ShownPlatform& platform,
                                                                 const std::string& package,
                                                                 const Cancellation* stop);

// Puts the small copied files of the packages into the store, where it lacks them. ABORTED,
// CANCELLED: as ShowPackage. Others: the store's, or a file cannot be read.
absl::Status PutSmallCopies(const ShownWorld& shown,
                            std::span<const devices::ShownPackage> packages, store::Store& store,
                            const Cancellation* stop);

// Folds names as trees do (content::FoldName).
devices::FoldPath FoldOfNames();

}  // namespace galley::director

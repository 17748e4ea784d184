// FindStanding: the results that hold in the present world by the journal, without any look-up:
// the beginning of a DeviceTree. Cooks and devices have brought them.
//
// A result stands when its record is trusted (no change since concerns it), its package has the
// same recipe, does not fail, and everything else that its cook observed is the same (AskJournal).
// The packages that a generator made are left out: whoever asks for one of them has it looked up.
//
// Cost: a scan of the journal. Threads: any; the world must be the present one before and after the
// call, or the journal may have spoken of a newer one.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/cancellation.h"
#include "common/store/interface/store.h"
#include "director/journal/journal.h"
#include "director/resident/package_files.h"
#include "director/shell/sources.h"
#include "director/shell/world.h"

namespace galley::director {

struct StandingQuestion {
  const World& world;
  const Sources& sources;  // of the world
  PlatformIndex platform = 0;
  Journal& journal;
  store::Store& store;
  const Cancellation& stop;
};

// The hard references of a result, resolved, sorted.
std::vector<std::string> NeededBy(const World& world, const std::string& package,
                                  const record::Result& result);
// False: the package fails in the world, whatever its own cook made: a hard reference of the result
// leads to no package, or one of its warnings is an error there.
bool MayBeShown(const World& world, const std::string& package, const record::Result& result);
// The packages that the result refers to softly, where the references lead to packages; sorted.
std::vector<std::string> SoftReferencesOf(const World& world, const std::string& package,
                                          const record::Result& result);
// The files of a result, which is no verdict.
PackageFilesPtr FilesOf(const World& world, const std::string& package, const Digest& action_key,
                        const record::Result& result);

// Sorted by package. Results of another store are none. Errors: the journal's, the store's;
// CANCELLED: `stop`.
absl::StatusOr<CookedPackages> FindStanding(const StandingQuestion& question);

}  // namespace galley::director

// LostFiles: finds outputs that the store dropped between two cooks, or during a cook.
//
// A package that the difference does not affect is up to date without a question to the store:
// otherwise each cook would ask for all outputs of the project. So the session does not protect
// these outputs, and a collection during the cook may drop them. Before a root is published the
// store is asked for the outputs once: from then on the session protects them, and later the root.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/store/interface/store.h"
#include "common/tree/tree.h"
#include "director/core/effects.h"
#include "director/core/events.h"
#include "director/journal/journal.h"
#include "director/shell/result_table.h"

namespace galley::director {

// Returns the `files` that the store lacks. `owners`: the package of each file, in the order of
// `files`. Blocks; asks for at most kFilesAtOnce digests at a time.
inline constexpr size_t kFilesAtOnce = 16'384;
absl::StatusOr<std::vector<RootBuilt::Lost>> LostFiles(store::Store& store,
                                                       std::span<const tree::TreeFile> files,
                                                       std::span<const PackageId> owners);

// Called when a loss was seen: returns the outputs and generated sources of the results that are
// gone from the disk, and makes the store forget them (Store::FindLost). Results in dispute count
// as lost. Blocks.
absl::StatusOr<std::vector<RootBuilt::Lost>> LookForLostFiles(store::Store& store,
                                                              const ResultTable& results,
                                                              const LookForLost& look);

// Called when the store's loss epoch rose between two cooks: returns the packages of the journal
// whose outputs or generated sources are not all in the store, or whose results are in dispute
// (record/dispute.h) or revoked (record/revocation.h). Reads all records. Blocks.
absl::StatusOr<std::vector<std::string>> PackagesThatLost(Journal& journal, store::Store& store);

// Called when the store's loss epoch rose: says whether all folders and files of these roots still
// exist, and no result of these action keys is in dispute or may be revoked. Blocks.
absl::StatusOr<bool> AreWhole(store::Store& store, std::span<const Digest> roots,
                              std::span<const Digest> keys);

// Makes the journal distrust the packages of `lost`, and returns their names. `packages`: all
// packages that may have a lost blob, with their results. Commit thread.
absl::StatusOr<std::vector<std::string>> DistrustLost(
    Journal& journal, const ResultTable& results,
    std::span<const std::pair<PackageId, ResultId>> packages,
    std::span<const RootBuilt::Lost> lost);

}  // namespace galley::director

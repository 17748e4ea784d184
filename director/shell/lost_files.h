// LostFiles: finds outputs that the store dropped between two cooks, or during a cook.
//
// A package whose observations do not meet the difference is up to date without a question to the
// store: otherwise each cook would ask for all outputs of the project. So nobody told this cook
// that these outputs exist, and a collection during the cook may drop them; the session holds
// whatever else the cook uses. The outputs are asked for once, before anything is published: from
// then on the session holds the outputs, and after that the root does.
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
// `files`. Blocks; at most kFilesAtOnce digests are asked for at a time.
inline constexpr size_t kFilesAtOnce = 16'384;
absl::StatusOr<std::vector<RootBuilt::Lost>> LostFiles(store::Store& store,
                                                       std::span<const tree::TreeFile> files,
                                                       std::span<const PackageId> owners);

// After a loss was seen: returns the blobs of the results (outputs and generated sources) that are
// gone from the disk; the store drops what it knows of these blobs (Store::FindLost). Results in
// dispute count as lost. Blocks.
absl::StatusOr<std::vector<RootBuilt::Lost>> LookForLostFiles(store::Store& store,
                                                              const ResultTable& results,
                                                              const LookForLost& look);

// After the store's loss epoch rose between two cooks: returns the packages that the journal knows
// to be up to date, but whose outputs are not all there any more, are in dispute
// (record/dispute.h), or were made by somebody who is revoked (record/revocation.h). Reads all
// records. Blocks.
absl::StatusOr<std::vector<std::string>> PackagesThatLost(Journal& journal, store::Store& store);

// After the store's loss epoch rose: says whether all folders and files of these roots still exist,
// and none of the results with these action keys is in dispute or may have been revoked. Blocks.
absl::StatusOr<bool> AreWhole(store::Store& store, std::span<const Digest> roots,
                              std::span<const Digest> keys);

// Makes the journal distrust the packages that own `lost`, and returns their names. `packages`: all
// packages that may own a lost blob, with their results. Commit thread.
absl::StatusOr<std::vector<std::string>> DistrustLost(
    Journal& journal, const ResultTable& results,
    std::span<const std::pair<PackageId, ResultId>> packages,
    std::span<const RootBuilt::Lost> lost);

}  // namespace galley::director

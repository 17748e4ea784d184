// Lost files: outputs that the store dropped between two cooks, or during one.
//
// A package whose observations do not meet the difference is up to date, and the store is asked
// nothing about it: otherwise each cook would ask for all outputs of the project. So nobody told
// this cook that these outputs are there, and a collection during the cook may drop them (the
// session holds whatever else the cook uses). They are asked for once, before anything is
// published: from then on the session holds them, too, and after that the root does.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/store/interface/store.h"
#include "common/tree/tree.h"
#include "director/core/events.h"
#include "director/journal/journal.h"
#include "director/shell/result_table.h"

namespace galley::director {

// Those of `files` that the store does not have. `owners`: the package of each file, in the order
// of `files`. Blocking; at most kFilesAtOnce digests are asked for at a time.
inline constexpr size_t kFilesAtOnce = 16'384;
absl::StatusOr<std::vector<RootBuilt::Lost>> LostFiles(store::Store& store,
                                                       std::span<const tree::TreeFile> files,
                                                       std::span<const PackageId> owners);

// After a loss was seen: the blobs of the results (outputs and generated sources) that are gone
// from the disk; the store drops what it knows of them (Store::FindLost). Results in dispute count
// as lost. Blocking.
absl::StatusOr<std::vector<RootBuilt::Lost>> LookForLostFiles(store::Store& store,
                                                              const ResultTable& results,
                                                              const LookForLost& look);

// After the store's loss epoch rose between two cooks: the packages that the journal knows to be up
// to date and whose outputs are not all there any more, or are in dispute (record/dispute.h), or
// were made by somebody who is revoked (record/revocation.h). Reads all records. Blocking.
absl::StatusOr<std::vector<std::string>> PackagesThatLost(Journal& journal, store::Store& store);

// After the store's loss epoch rose: whether all folders and files of these roots are there still,
// and none of the results with these action keys is in dispute, or may have been revoked. Blocking.
absl::StatusOr<bool> AreWhole(store::Store& store, std::span<const Digest> roots,
                              std::span<const Digest> keys);

// Makes the journal distrust the packages that own `lost`, and returns their names. `packages`: all
// that may own some of it, with their results. Commit thread.
absl::StatusOr<std::vector<std::string>> DistrustLost(
    Journal& journal, const ResultTable& results,
    std::span<const std::pair<PackageId, ResultId>> packages,
    std::span<const RootBuilt::Lost> lost);

}  // namespace galley::director

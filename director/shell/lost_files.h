// What the store dropped between two cooks, and under one.
//
// A package whose observations do not meet the difference is up to date, and the store is asked
// nothing about it: that would cost each cook what asking for all outputs of the project costs.
// Nobody told this cook that they are there, so a collection in the middle of it may drop them
// (whatever else the cook uses its session holds). So they are asked for once, before anything is
// published: from then on they are told, and the root holds them after that.
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

// Those of `files` that the store has not. `owners`: the packages whose they are, in their order.
// Blocking; so many digests at a time.
inline constexpr size_t kFilesAtOnce = 16'384;
absl::StatusOr<std::vector<RootBuilt::Lost>> LostFiles(store::Store& store,
                                                       std::span<const tree::TreeFile> files,
                                                       std::span<const PackageId> owners);

// After a loss was seen: those blobs of the results (outputs and generated sources) that are gone
// from the disk; what the store said of them is dropped (Store::FindLost). Results in dispute count
// as lost. Blocking.
absl::StatusOr<std::vector<RootBuilt::Lost>> LookForLostFiles(store::Store& store,
                                                              const ResultTable& results,
                                                              const LookForLost& look);

// After the store's loss epoch rose between two cooks: the packages that the journal knows to be up
// to date and whose outputs are not all there any more, or are in dispute (record/dispute.h). Reads
// all records. Blocking.
absl::StatusOr<std::vector<std::string>> PackagesThatLost(Journal& journal, store::Store& store);

// The journal trusts the packages that own them no more. `packages`: with their results, those that
// own them among them. Their names. Commit thread.
absl::StatusOr<std::vector<std::string>> DistrustLost(
    Journal& journal, const ResultTable& results,
    std::span<const std::pair<PackageId, ResultId>> packages,
    std::span<const RootBuilt::Lost> lost);

}  // namespace galley::director

// StoreState: the state of an open store at its owner: the folder, the index, the blobs and results
// that others were told of, and the log. The classes that work on a store share one StoreState:
// StoreReader reads it, StoreWriter writes it, and the other classes of StoreParts use those two.
//
// Threads: see each member.
#pragma once

#include <utility>

#include "common/store/local/live_index.h"
#include "common/store/local/own_log.h"
#include "common/store/local/reported_present.h"
#include "common/store/local/store_folder.h"
#include "common/store/local/synced_ends.h"
#include "common/store/local/used_results.h"

namespace galley::store {

struct StoreState {
  StoreState(StoreFolder opened_folder, Recovered& recovered)
      : folder(std::move(opened_folder)),
        index(std::move(recovered.index),
              IndexRebuild::Deps{.directory = folder.directory,
                                 .store_id = folder.store_id,
                                 .free_bytes_least = folder.options.free_bytes_least,
                                 .boot_time = folder.options.boot_time,
                                 .now = folder.options.now,
                                 .synced_ends = &synced_ends}),
        reported_present(folder.options.boot_time),
        log(folder, index, synced_ends, recovered) {}

  const StoreFolder folder;
  SyncedEnds synced_ends;  // of the segments that this owner fills
  LiveIndex index;
  ReportedPresent reported_present;
  UsedResults used;
  OwnLog log;
};

}  // namespace galley::store

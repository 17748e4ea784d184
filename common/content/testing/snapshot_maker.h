// SnapshotMaker: makes a snapshot of files that are on no disk, whose digests are known: for the
// simulation. Whoever reads such a file finds that it is gone.
#pragma once

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/clock.h"
#include "common/content/overlay.h"
#include "common/content/snapshot.h"
#include "common/content/snapshot_files.h"

namespace galley::content {

class SnapshotMaker {
 public:
  // REQUIRES: `rows` are sorted by path, each path once; `clock` outlives the snapshot.
  static std::unique_ptr<Snapshot> Make(std::vector<Mount> mounts, std::vector<Row> rows,
                                        Clock& clock) {
    auto files = std::make_unique<SnapshotFiles>();
    files->clock = &clock;
    files->head.mounts = std::move(mounts);
    FoldIndex folds(rows.size(), [&](size_t i) -> std::string_view { return rows[i].entry.path; });
    files->rows = std::make_shared<FileRows>(std::move(rows), std::move(folds));
    return std::unique_ptr<Snapshot>(new Snapshot(std::move(files)));
  }
};

}  // namespace galley::content

// WriteFiles: lists the files of a tree, looks them up in the store, and writes them into a
// sandbox. For stages and checkouts.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/digest.h"
#include "common/store/interface/store.h"
#include "common/tree/tree.h"
#include "director/stage/place_file.h"
#include "director/stage/sandbox.h"
#include "director/stage/stage_report.h"

namespace galley::director {

// Returns the package of a path in a tree; empty: unknown. May be null.
using PackageOfPath = std::function<std::string(std::string_view path)>;

// Returns the files of a tree. CANCELLED: `interrupted` became true. Other errors as
// tree::ListTree.
absl::StatusOr<std::vector<tree::TreeFile>> ListFiles(store::Store& store, const Digest& root,
                                                      const std::atomic<bool>* interrupted);

// Checks that the store has all files; call before anything is touched. DATA_LOSS: the store lacks
// some; the text names the first file.
absl::Status CheckPresent(store::Store& store, const std::vector<tree::TreeFile>& files,
                          const std::atomic<bool>* interrupted,
                          const PackageOfPath& package_of = nullptr);

// Returns DATA_LOSS for every loss of the store, since NOT_FOUND may also mean that a sandbox lacks
// a folder.
absl::Status AsLoss(const absl::Status& status);

// BlobSources: the store, whose blobs are written, and its files, for links.
struct BlobSources {
  store::Store& store;
  const StoreFiles* files = nullptr;
  PackageOfPath package_of = nullptr;
};

// Writes the files on several threads, and adds to `report` even after an error. DATA_LOSS: the
// store lacks some files; all other files were written.
absl::Status WriteFiles(const BlobSources& sources, Sandbox& sandbox,
                        const std::vector<tree::TreeFile>& files,
                        const std::atomic<bool>* interrupted, StageReport& report);

}  // namespace galley::director

// WriteFiles: lists the files of a tree, looks for them in the store, and writes them into a
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

// Returns the package to which a path of a tree belongs; empty: unknown. May be null.
using PackageOfPath = std::function<std::string(std::string_view path)>;

// Returns the files of a tree. CANCELLED: `interrupted` became true. Other errors as
// tree::ListTree.
absl::StatusOr<std::vector<tree::TreeFile>> ListFiles(store::Store& store, const Digest& root,
                                                      const std::atomic<bool>* interrupted);

// DATA_LOSS: the store lacks the bytes of some files; the text names the first file. Called before
// anything is touched.
absl::Status CheckPresent(store::Store& store, const std::vector<tree::TreeFile>& files,
                          const std::atomic<bool>* interrupted,
                          const PackageOfPath& package_of = nullptr);

// NOT_FOUND may mean that the store lacks a blob, or that a sandbox lacks a folder. Every loss of
// the store becomes DATA_LOSS, so that nobody takes the one for the other.
absl::Status AsLoss(const absl::Status& status);

// BlobSources: the store's blobs, from which files are written, and its files for links.
struct BlobSources {
  store::Store& store;
  const StoreFiles* files = nullptr;
  PackageOfPath package_of = nullptr;
};

// Writes the files on several threads, and counts in `report` what was done, even after an error.
// DATA_LOSS: the store lacks some files; all other files were written.
absl::Status WriteFiles(const BlobSources& sources, Sandbox& sandbox,
                        const std::vector<tree::TreeFile>& files,
                        const std::atomic<bool>* interrupted, StageReport& report);

}  // namespace galley::director

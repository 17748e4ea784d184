// Stage: stages a cooked tree to a platform's sandbox by applying the difference between the files
// of the sandbox and the new root.
//
// Every file is replaced by a rename. The marker file `.galley-root` in the sandbox names the root
// of the sandbox and is absent during a stage, so that the next stage completes an interrupted one
// by comparing the files there, by size and digest. The marker, and `.galley-root.pending` during a
// stage, list the files that Galley put there (ledger.h). Files are copied from the store, which
// verifies them; a reflink would need the path of the store's file, which Store does not give.
// Links in the sandbox are replaced, never followed.
//
// The needed blobs are looked up in the store first, so that a missing blob leaves the sandbox
// untouched.
//
// After a cook by the book the sandbox equals the root, except for files that Galley never put
// there, which stay and are reported. Nothing is staged if such a file is in the place of a folder,
// or of a cooked file with other bytes, or if a folder with such files is in the place of a cooked
// file. If the ledger is lost, a file at the path of a cooked file counts as an older cooked file.
// An exact stage removes all other files. With an unchanged root every staged file is still checked
// by presence, size, times and inode, so that files which a person deleted or edited come back; a
// file that was only touched is compared by digest once.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/digest.h"
#include "common/store/interface/store.h"
#include "director/stage/stage_report.h"

namespace galley::director {

struct StageOptions {
  std::string directory;  // the sandbox: <out>/<platform>
  Digest root;
  bool by_the_book = true;  // removes Galley's files that are not in the root
  bool exact = false;       // by the book: also removes files that Galley never put there
  // For narrow cooks: the path prefixes of failed packages' outputs in the tree. A file of Galley's
  // whose path is such a prefix and a suffix is removed, unless it is also an output of one of
  // `packages_beside`, with a longer path ("a.json.meta" beside "a.json").
  std::vector<std::string> failed_packages;
  std::vector<std::string> packages_beside;
  const std::atomic<bool>* interrupted = nullptr;
  mode_t umask = 022;  // decides the modes of new files and folders
  // Roots that were published for this sandbox. They are read only if a file is in the way of a
  // cooked file, or if the ledger does not tell Galley's files: it is damaged, gone, or lacks most
  // files of its own root, because an older Galley was killed. Then a file with the bytes that one
  // of these roots has at its path is Galley's, and no other file is.
  std::vector<Digest> earlier_roots;
  // Returns the package of a path in the tree, for errors; empty: unknown. May be null. Threads:
  // any.
  std::function<std::string(std::string_view path)> package_of = nullptr;
};

// DATA_LOSS: the store lacks blobs of the tree; the text names the first file and the number of
// files. All other files were read, and blobs that lie nowhere on the disk are dropped
// (Store::FindLost). No other fault has this code: a sandbox that is removed meanwhile is
// NOT_FOUND. CANCELLED: `interrupted` became true. INVALID_ARGUMENT: the tree has a name that is
// staging's own. RESOURCE_EXHAUSTED: no space; the text names the file, and the marker stays
// absent. FAILED_PRECONDITION: `directory` holds something that is not Galley's in the place of a
// file or folder of the tree; or an exact stage met a repository; or a path would be too long for
// this system. Then nothing was touched.
absl::StatusOr<StageReport> Stage(store::Store& store, const StageOptions& options);

// Stages to a sandbox that is known to hold `before` as it was staged, and only Galley's files:
// looks only at the difference. nullopt: more differs than bytes of files, or the ledger disagrees;
// nothing was touched, and the caller calls Stage.
absl::StatusOr<std::optional<StageReport>> StageChanges(store::Store& store,
                                                        const StageOptions& options,
                                                        const Digest& before);

// Returns "2 files in <directory> were not put there by Galley and stay: a, b (--exact removes
// them)".
std::string ForeignText(const std::string& directory, const StageReport& report);

}  // namespace galley::director

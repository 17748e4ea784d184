// Stage: stages a cooked tree to a platform's sandbox by applying the difference between the files
// of the sandbox and the new root.
//
// Every file is replaced by a rename; the marker file `.galley-root` in the sandbox names the root
// of the sandbox and is absent meanwhile, so that the next stage completes an interrupted stage (by
// a comparison with what lies there: size and digest). The marker, and meanwhile
// `.galley-root.pending`, say which files Galley put there (ledger.h). Files are copied from the
// store, which verifies them; a reflink would need a file of its own in the store, which Store does
// not show. Links in the sandbox are replaced, never followed.
//
// The needed blobs are worked out first, and looked for in the store, so that a missing blob leaves
// the sandbox untouched.
//
// After a cook by the book the sandbox equals the root, except for files that Galley never put
// there, which stay and are reported. If such a file is in the place of a cooked file (with other
// bytes) or of a folder, or a folder with such files is in the place of a cooked file, nothing is
// staged. If the ledger is lost, a file at the path of a cooked file counts as an older cooked
// file. An exact stage removes all other files. With an unchanged root every staged file is still
// looked at (presence, size, times, inode), so what a person deleted or edited comes back; a file
// that was only touched is compared by digest once.
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
  bool by_the_book = true;  // removes Galley's files that the root does not hold
  bool exact = false;       // by the book: removes also files that Galley never put there
  // Narrow cooks: the paths at which the outputs of failed packages begin in the tree. A file of
  // Galley's whose name is such a path and a suffix is removed, unless its name is also an output
  // of one of `packages_beside`, whose path is longer ("a.json.meta" beside "a.json").
  std::vector<std::string> failed_packages;
  std::vector<std::string> packages_beside;
  const std::atomic<bool>* interrupted = nullptr;
  mode_t umask = 022;  // decides the modes of new files and folders
  // Roots that were published for this sandbox. Read only when the sandbox's own files do not say
  // what Galley put there (they are damaged, or gone, or lack most files of their own root, because
  // an older Galley was killed), and when a file is in the way of a cooked file. Then a file with
  // the bytes that one of these roots has at its path is Galley's, and any other file is
  // somebody's.
  std::vector<Digest> earlier_roots;
  // Returns the package to which a path of the tree belongs, for errors; empty: unknown. May be
  // null. Threads: any.
  std::function<std::string(std::string_view path)> package_of = nullptr;
};

// DATA_LOSS: the store lacks a blob of the tree (names the file, and the number of such files: all
// other files were read, and blobs that lie nowhere on the disk are dropped, see Store::FindLost).
// No other fault has this code: a sandbox that is removed meanwhile is NOT_FOUND. CANCELLED:
// `interrupted` became true. INVALID_ARGUMENT: the tree wants a name that is staging's own.
// RESOURCE_EXHAUSTED: no space (names the file; the marker stays absent). FAILED_PRECONDITION:
// `directory` holds something that is not ours in the place of a file or folder of the tree; or an
// exact stage met a repository; or a path would be longer than this system takes. Then nothing was
// touched.
absl::StatusOr<StageReport> Stage(store::Store& store, const StageOptions& options);

// Stages to a sandbox that is known to hold `before` as it was staged, and nobody else's files:
// looks only at the difference. nullopt: more than bytes of files differ, or the ledger says
// otherwise; nothing was touched, and the caller calls Stage.
absl::StatusOr<std::optional<StageReport>> StageChanges(store::Store& store,
                                                        const StageOptions& options,
                                                        const Digest& before);

// Returns "2 files in <directory> were not put there by Galley and stay: a, b (--exact removes
// them)".
std::string ForeignText(const std::string& directory, const StageReport& report);

}  // namespace galley::director

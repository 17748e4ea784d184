// Staging: lays a cooked tree out in a platform's sandbox by applying the difference between what
// the sandbox holds and the new root.
//
// Each file is replaced by a rename; the marker file `.galley-root` in the sandbox names the root
// that it holds and is absent meanwhile, so that an interrupted stage is completed by the next
// (which then compares with what lies there: size and digest). What Galley knows to have put there
// is in the marker and, meanwhile, in `.galley-root.pending` (ledger.h). Files are copied from the
// store, which verifies them (a reflink needs a file of its own in the store, which Store does not
// show). Links in the sandbox are replaced, never followed.
//
// The needed blobs are worked out first, and looked for in the store, so that a missing blob leaves
// the sandbox untouched.
//
// After a cook by the book the sandbox equals the root, but for files that Galley never put there:
// they stay, and are reported. Where one is in the place of a cooked file (with other bytes) or of
// a folder, or a folder with such files in the place of a cooked file, nothing is staged. (Where
// the ledger is lost, a file at the path of a cooked one is taken for an older cooked one.) An
// exact stage removes them all. With an unchanged root every staged file is still looked at
// (presence, size, times, inode), so what a person deleted or edited comes back; a file that was
// only touched is compared by digest once.
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
#include "common/tree/tree.h"
#include "director/stage/place_file.h"
#include "director/stage/sandbox.h"

namespace galley::director {

struct StageOptions {
  std::string directory;  // the sandbox: <out>/<platform>
  Digest root;
  bool by_the_book = true;  // remove what Galley put there and the root does not hold
  bool exact = false;       // by the book: remove also what Galley never put there
  // Narrow cooks: where the outputs of failed packages begin in the tree. A file of Galley's whose
  // name is such a beginning and a suffix is removed, unless its name is also that of an output of
  // one of `packages_beside`, whose beginning is longer ("a.json.meta" beside "a.json").
  std::vector<std::string> failed_packages;
  std::vector<std::string> packages_beside;
  const std::atomic<bool>* interrupted = nullptr;
  mode_t umask = 022;  // decides the modes of what is made
  // Roots that were published for this sandbox. Read only when the sandbox's own files do not say
  // what Galley put there: they are damaged, or gone, or lack most files of their own root (an
  // older Galley was killed); and when a file is in the way of a cooked one. A file that has the
  // bytes which one of these roots has at its path is Galley's then, and any other is somebody's.
  std::vector<Digest> earlier_roots;
  // The package to which a path of the tree belongs, for errors; empty: not known. May be null.
  // Threads: any.
  std::function<std::string(std::string_view path)> package_of = nullptr;
};

struct StageReport {
  uint64_t written = 0;
  uint64_t removed = 0;
  uint64_t unchanged = 0;
  uint64_t bytes_written = 0;
  uint64_t linked = 0;               // of `written`: share the store's file
  uint64_t cloned = 0;               // of `written`: share its bytes until they are written to
  uint64_t foreign_count = 0;        // by the book: files there that Galley never put there
  std::vector<std::string> foreign;  // the first of them
};

// DATA_LOSS: the store lacks what the tree names (names the file, and says how many there are: all
// others were read, and what lies nowhere on the disk is dropped, see Store::FindLost). No other
// fault has this code: a sandbox that is removed meanwhile is NOT_FOUND. CANCELLED: `interrupted`
// became true. INVALID_ARGUMENT: the tree wants a name that is staging's own. RESOURCE_EXHAUSTED:
// no space (names the file; the marker stays absent). FAILED_PRECONDITION: `directory` holds
// something that is not ours in the place of a file or folder of the tree; or an exact stage met a
// repository; or a path there would be longer than this system takes. Nothing was touched then.
absl::StatusOr<StageReport> Stage(store::Store& store, const StageOptions& options);

// The same for a sandbox that is known to hold `before` as it was laid there, with nothing of
// somebody else's: only what differs is looked at. nullopt: more than bytes of files differ, or the
// ledger says otherwise; nothing was touched, and Stage must do it.
absl::StatusOr<std::optional<StageReport>> StageChanges(store::Store& store,
                                                        const StageOptions& options,
                                                        const Digest& before);

// "2 files in <directory> were not put there by Galley and stay: a, b (--exact removes them)".
std::string ForeignText(const std::string& directory, const StageReport& report);

struct CheckoutOptions {
  // Large files become names of the store's own files, read-only, or clones of them, where the file
  // system can (place_file.h).
  bool link = false;
  VerifiedFiles* verified = nullptr;  // of checkouts before this one; null: none
  Sandbox::CloneFunction clone = CloneFile;
  const std::atomic<bool>* interrupted = nullptr;
};
// `galley checkout ROOT DIR`: the whole tree into a new or empty folder. The file
// `.galley-checkout` is there meanwhile: one that was cut off is begun anew by the next checkout of
// the same root. FAILED_PRECONDITION: the folder is not empty, or another process works on it.
// CANCELLED: `interrupted` became true.
absl::StatusOr<StageReport> Checkout(store::Store& store, const Digest& root,
                                     const std::string& directory,
                                     const CheckoutOptions& options = {});

}  // namespace galley::director

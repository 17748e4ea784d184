// Bundle: everything that a machine without Galley needs to be a worker: `galley`, `galley-worker`,
// their shared libraries, and the loader that runs them, as they are on this machine. A bundle is
// named by content: by the digest of a list of the files' digests.
//
// A bundle is one file: a script of /bin/sh, followed by the files one after the other. When the
// script runs, it unpacks the bundle into the cache of the machine's user, once, and runs `galley`
// from there:
//
//   $XDG_CACHE_HOME, or $HOME/.cache, or /tmp/galley-<user> (which nobody else may enter)
//     galley/programs/<digest>/galley, galley-worker, lib/<libraries and the loader>
//
// The script verifies the files there each time before they are run, against digests that the
// script holds. So whoever has the script from somebody that he trusts may have the files from
// anybody: launchers send the script in their own way, and the files only if they are missing.
//
// The script needs Linux on the same processor family, and cat, chmod, head, id, ls, mkdir, mktemp,
// mv, rm, sha256sum, tail, touch, uname, of coreutils or busybox.
//
// Programs that were not started for 30 days are removed when others come.
// Source: ld.so(8) of glibc 2.36: --list, --library-path, --inhibit-rpath, --glibc-hwcaps-mask.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/digest.h"
#include "common/base/mutex.h"

namespace galley::director {

struct BundledFile {
  std::string name;  // in the bundle: "galley", "lib/libm.so.6"
  std::string path;  // on this machine
  Digest digest;
};

struct Bundle {
  std::string name;      // 64 hex digits
  std::string platform;  // "Linux x86_64", as uname -sm has it
  std::string loader;    // "lib/ld-linux-x86-64.so.2"
  std::vector<BundledFile> files;
  uint64_t size_bytes() const;  // of all files
};

// Returns the bundle of the programs in a folder. Reads them, and runs the loader.
// FAILED_PRECONDITION: a library is missing, or is named in a way that cannot be kept elsewhere; or
// there is no loader.
absl::StatusOr<Bundle> BundleOf(const std::string& programs);

// BundleScript: the text for a shell, in parts.
// Functions: galley_whole (says whether "$galley_dir" is there, and whole), galley_unpack FILE (an
// empty FILE: the standard input), galley_exec ARGUMENTS. Ends with 3 if the bundle cannot be used.
std::string BundleScript(const Bundle& bundle);

// BundleFile: the bundle of this program's folder, looked at once and written when needed.
// Threads: any; blocks.
class BundleFile {
 public:
  // Makes `folder`, and removes other builds from it.
  BundleFile(std::string programs, std::string folder)
      : programs_(std::move(programs)), folder_(std::move(folder)) {}

  absl::StatusOr<Bundle> Look();
  // Returns the path of the bundle: <folder>/galley-<first 16 digits of its name>.
  absl::StatusOr<std::string> Write();
  static std::string FileNameOf(const Bundle& bundle);

 private:
  const std::string programs_, folder_;
  base::Mutex mutex_;
  std::optional<absl::StatusOr<Bundle>> bundle_ GALLEY_GUARDED_BY(mutex_);
};

}  // namespace galley::director

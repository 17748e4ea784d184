// Bundle: everything that a machine without Galley needs to be a worker: copies of this machine's
// `galley`, `galley-worker`, their shared libraries and the loader. The name of a bundle is the
// digest of the list of its files' digests.
//
// A bundle is one file: a script of /bin/sh, followed by the files one after the other. When the
// script runs, it unpacks the bundle into the cache of the machine's user, once, and runs `galley`
// from there:
//
//   $XDG_CACHE_HOME, or $HOME/.cache, or /tmp/galley-<user>, which must have mode 0700
//     galley/programs/<digest>/galley, galley-worker, lib/<libraries and the loader>
//
// Before each run the script verifies the unpacked files against the digests that it holds. So only
// the script must come from a trusted sender: a launcher always sends the script, and the files
// only if they are missing.
//
// The script needs Linux on the same processor family, and cat, chmod, head, id, ls, mkdir, mktemp,
// mv, rm, sha256sum, tail, touch, uname, of coreutils or busybox.
//
// Unpacking a bundle removes bundles that were not started for 30 days.
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
// FAILED_PRECONDITION: a library is missing or is linked by a path; or there is no loader.
absl::StatusOr<Bundle> BundleOf(const std::string& programs);

// Returns shell functions, and the text that sets $galley_dir; the caller appends the calls:
//
//   galley_whole FOLDER      succeeds if all files of the bundle are in FOLDER, undamaged
//   galley_unpack FILE       unpacks the bundle FILE to $galley_dir; an empty FILE: standard input
//   galley_exec ARGUMENTS    becomes `galley ARGUMENTS` from $galley_dir
//
// The shell exits with 3 if the bundle cannot be used.
std::string BundleScript(const Bundle& bundle);

// BundleFile: the bundle of the programs in one folder, computed once and written when needed.
// Threads: any; blocks.
class BundleFile {
 public:
  // `programs`: the folder of the programs; `folder`: where Write puts the bundle.
  BundleFile(std::string programs, std::string folder)
      : programs_(std::move(programs)), folder_(std::move(folder)) {}

  absl::StatusOr<Bundle> Look();
  // Returns the path of the bundle, <folder>/galley-<first 16 digits of its name>. Writes the
  // bundle if it is missing; then makes the folder, and removes every other file from it.
  absl::StatusOr<std::string> Write();
  static std::string FileNameOf(const Bundle& bundle);

 private:
  const std::string programs_, folder_;
  base::Mutex mutex_;
  std::optional<absl::StatusOr<Bundle>> bundle_ GALLEY_GUARDED_BY(mutex_);
};

}  // namespace galley::director

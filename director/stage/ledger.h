// Ledger: what Galley knows to have put into a sandbox, kept in the sandbox itself as text.
//
//   .galley-root            line 1: the root that the sandbox holds, "<hex>/<size>"; there only
//   while that is true.
//                           further lines: paths of files that earlier narrow cooks left beside it,
//                           sorted then, unless an older Galley wrote it, a NUL byte and the stamps
//                           of the root's files, in the order of their paths: for each mtime, ctime
//                           (ns) and inode, 8 bytes each, little-endian
//   .galley-root.pending    while staging runs, and after it was interrupted: lines "root
//   <hex>/<size>" for each root of which files may
//                           lie there, then "path <path>". It says what may be removed as ours;
//                           nothing it names is trusted to be whole.
//
// A damaged or foreign file is read as if it were absent: then everything is compared by digest.
// Version: the form of line 1.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/digest.h"
#include "director/stage/sandbox.h"

namespace galley::director {

inline constexpr std::string_view kMarkerName = ".galley-root";
inline constexpr std::string_view kPendingName = ".galley-root.pending";

struct Ledger {
  std::optional<Digest> exact;    // the marker's root: its files were laid there, whole
  std::vector<FileStamp> stamps;  // of those files, in the order of their paths; empty: unknown
  int64_t written_ns =
      0;  // when the marker was: a file that changed no earlier may have changed again unseen
  std::vector<Digest> roots;                  // all whose files may lie there, exact included
  std::set<std::string, std::less<>> beside;  // files of ours that are in none of the roots
};

absl::StatusOr<Ledger> ReadLedger(Sandbox& sandbox);
// From here on the marker is absent; what may lie there is `ledger`'s and `next`'s.
absl::Status BeginStaging(Sandbox& sandbox, const Ledger& ledger, const Digest& next);
// The sandbox holds `root`, whose files have `stamps`, and `beside`.
absl::Status EndStaging(Sandbox& sandbox, const Digest& root,
                        const std::set<std::string, std::less<>>& beside,
                        const std::vector<FileStamp>& stamps);

}  // namespace galley::director

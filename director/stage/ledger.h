// Ledger: what Galley knows to have put into a sandbox, kept in the sandbox itself as text.
//
//   .galley-root                There only while it is true.
//     <hex>/<size>              line 1: the root that the sandbox holds
//     / <hex>                   line 2: the SHA-256 of line 1 and of all that follows line 2
//     <path>                    further lines: all files that Galley put there, sorted
//     NUL, then 24 bytes each   the stamps of the root's files, in the order of their paths: mtime,
//                               ctime (ns) and inode, little-endian
//   (Older Galleys wrote "/" alone as line 2; or no such line, only the files that are not in the
//   root, and no stamps.)
//
//   After a few files were replaced it says what changed, so that it costs no more than these:
//     <hex>/<size>              line 1, as above
//     // <hex>                  line 2, as above
//     /files <hex> <n> <bytes> <stamp>
//                               the other file: the checksum in its line 2, how many files it
//                               names (each has a stamp), its size, and its own stamp
//     /at <stamp> <path>        for each file that was replaced since, sorted: its stamp
//   A <stamp> here is mtime, ctime and inode in decimal, with a space between. (A Galley that does
//   not know these lines passes them over, and takes the marker for one of the oldest.)
//
//   .galley-root.files          The marker as it was before any of that. It counts only for whoever
//                               names its checksum: the marker, or the file of an interrupted
//                               stage. (An older Galley takes it for somebody's file.)
//
//   .galley-root.pending        There while staging runs, and after it was interrupted. It says
//                               what may be removed; nothing it names is trusted to be whole.
//     root <hex>/<size>         for each root of which files may be there
//     path <path>               for each file that Galley put there
//     files <hex>               so does each path of .galley-root.files, if this is its checksum
//     next <hex>/<size> <path>  for each file that is about to be written where Galley has none. It
//                               is Galley's only if it has these bytes, or if a power cut left none
//                               of them: no more bytes than these, all zero. Else somebody was
//                               first.
//     end                       when these are all
//     sum <hex>                 the SHA-256 of all lines before it (older Galleys wrote none)
//
// A damaged or foreign file is read as if it were absent: then everything is compared by digest,
// and the file is written anew, which is noted (healed.h). A folder in its place is moved aside.
// Version: the form of line 1.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/digest.h"
#include "director/stage/sandbox.h"

namespace galley::director {

inline constexpr std::string_view kMarkerName = ".galley-root";
inline constexpr std::string_view kPendingName = ".galley-root.pending";
inline constexpr std::string_view kFilesName = ".galley-root.files";

// A file that Galley was about to put where it had none.
struct PlannedFile {
  std::string path;
  Digest digest;
};

struct Ledger {
  std::optional<Digest> exact;    // the marker's root: its files were laid there, whole
  std::vector<FileStamp> stamps;  // of those files, in the order of their paths; empty: unknown
  // When the marker was written: a file that changed no earlier may have changed again unseen.
  int64_t written_ns = 0;
  std::vector<Digest> roots;  // all whose files may be there, exact included; empty: none known
  std::vector<std::string> files;    // that Galley put there, sorted; what an older Galley wrote
                                     // lacks those of the roots
  std::vector<PlannedFile> planned;  // by a stage that was interrupted, sorted by path
  bool is_whole = false;             // `files` and `planned` are all: another file is somebody's
  std::vector<std::string> damage;   // what was wrong with its files; EndStaging puts it right
  bool is_sealed = false;            // its file has a checksum, which is right
  bool is_closed = false;            // there is a marker, and nothing of an interrupted stage
  std::string seal;                  // the marker's checksum, if the marker names all files itself
};

absl::StatusOr<Ledger> ReadLedger(Sandbox& sandbox);

// BriefLedger: what staging must know to replace files that are there already. All files that
// Galley put there are of the root, and each has a stamp.
struct BriefLedger {
  Digest root;
  std::string seal;  // of the file that names them all
  uint64_t files = 0;
  bool is_of_marker = true;  // the marker is that file; else it is .galley-root.files
  uint64_t size_bytes = 0;   // of that one, and its stamp: another file is not believed
  FileStamp stamp;
  std::map<std::string, FileStamp> replaced;  // since, by path
};
// Of more replaced files the marker names all again.
inline constexpr size_t kReplacedMax = 2048;

// Cost: that of what was replaced since. nullopt: the marker does not say it so, is damaged, or
// something of an interrupted stage is there; ReadLedger says more.
absl::StatusOr<std::optional<BriefLedger>> ReadBriefLedger(Sandbox& sandbox);
// The same of a ledger that was read. nullopt: something of it must be put right first.
std::optional<BriefLedger> BriefOf(const Ledger& ledger);
// A change of the file within the tick in which the marker was written may leave its stamp as it
// was: time stamps come from a clock that ticks every 20 ms or more often.
inline bool IsStampRacy(const Ledger& ledger, const FileStamp& stamp) {
  constexpr int64_t kTickNs = 20'000'000;
  return stamp.ctime_ns >= ledger.written_ns - kTickNs;
}
// After EndStaging: `ledger` is what was read before.
void NoteLedgerHealed(const Ledger& ledger);
// From here on the marker is absent, and `meanwhile` (without what the marker alone says) is what
// Galley may have there.
absl::Status BeginStaging(Sandbox& sandbox, const Ledger& meanwhile);
// The same when files are replaced only. `root`: the new one.
absl::Status BeginReplacing(Sandbox& sandbox, BriefLedger& ledger, const Digest& root);
// The sandbox holds the root of `ledger`. REQUIRES: after BeginReplacing of the same.
absl::Status EndReplacing(Sandbox& sandbox, const BriefLedger& ledger);
// The sandbox holds `root`, whose files have `stamps`; of Galley's are there `files`, sorted.
absl::Status EndStaging(Sandbox& sandbox, const Digest& root, std::span<const std::string> files,
                        const std::vector<FileStamp>& stamps);

}  // namespace galley::director

// Ledger: what Galley knows to have put into a sandbox, kept in the sandbox itself as text.
//
//   .galley-root                Exists only while its text is true.
//     <hex>/<size>              line 1: the root that the sandbox holds
//     / <hex>                   line 2: the SHA-256 of line 1 and of everything after line 2
//     <path>                    further lines: all files that Galley put there, sorted
//     NUL, then 24 bytes each   the stamps of the root's files, in the order of their paths: mtime,
//                               ctime (ns) and inode, little-endian
//   Older Galleys wrote "/" alone as line 2; or no line 2, only the files that are not in the root,
//   and no stamps.
//
//   After a few files were replaced, .galley-root says only what changed, which costs less:
//     <hex>/<size>              line 1, as above
//     // <hex>                  line 2, as above
//     /files <hex> <n> <bytes> <stamp>
//                               the other file: the checksum in its line 2, how many files it
//                               names (each has a stamp), its size, and its own stamp
//     /at <stamp> <path>        for each file that was replaced since, sorted: its stamp
//   A <stamp> here is mtime, ctime and inode in decimal, with a space between. A Galley that does
//   not know these lines skips them, and takes the marker for one of the oldest.
//
//   .galley-root.files          The marker as it was before the first replacement. The file counts
//                               only if the marker, or the file of an interrupted stage, names its
//                               checksum. An older Galley takes it for somebody's file.
//
//   .galley-root.pending        Exists while staging runs, and after an interrupt. The file says
//                               what may be removed; nothing that it names is trusted to be whole.
//     root <hex>/<size>         for each root whose files may be there
//     path <path>               for each file that Galley put there
//     files <hex>               the same for each path of .galley-root.files with this checksum
//     next <hex>/<size> <path>  for each file that is about to be written where Galley has none.
//                               The file is Galley's only if it has these bytes, or if a power cut
//                               left none of them: no more bytes than these, all zero. Otherwise
//                               somebody else wrote the file.
//     end                       after the last of these lines
//     sum <hex>                 the SHA-256 of all lines before it (older Galleys wrote none)
//
// A damaged or foreign file counts as absent: then everything is compared by digest, and the file
// is written anew, which is noted (healed.h). A folder in its place is moved aside.
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

// PlannedFile: a file that Galley was about to write where it had none.
struct PlannedFile {
  std::string path;
  Digest digest;
};

struct Ledger {
  std::optional<Digest> exact;  // the marker's root: its files were staged there, whole
  // Stamps of the files of `exact`, in the order of their paths; empty: unknown.
  std::vector<FileStamp> stamps;
  // When the marker was written: a file that changed no earlier may have changed again unseen.
  int64_t written_ns = 0;
  std::vector<Digest> roots;  // roots whose files may be there, `exact` included; empty: none known
  // Files that Galley put there, sorted; an older Galley's list lacks the files of the roots.
  std::vector<std::string> files;
  std::vector<PlannedFile> planned;  // by a stage that was interrupted, sorted by path
  bool is_whole = false;  // `files` and `planned` are complete: another file is somebody's
  std::vector<std::string> damage;  // what was wrong with the ledger's files; EndStaging repairs it
  bool is_sealed = false;           // the marker has a checksum, which is right
  bool is_closed = false;           // there is a marker, and no trace of an interrupted stage
  std::string seal;                 // the marker's checksum, if the marker names all files itself
};

absl::StatusOr<Ledger> ReadLedger(Sandbox& sandbox);

// BriefLedger: what staging must know to replace files that exist. All of Galley's files are files
// of the root, and each file has a stamp.
struct BriefLedger {
  Digest root;
  std::string seal;  // of the file that names all files
  uint64_t files = 0;
  bool is_of_marker = true;  // the marker is that file; otherwise .galley-root.files is
  uint64_t size_bytes = 0;   // of that file, with its stamp: another file is not believed
  FileStamp stamp;
  std::map<std::string, FileStamp> replaced;  // since that file was written, by path
};
// Beyond this many replaced files the marker names all files again.
inline constexpr size_t kReplacedMax = 2048;

// Cost: the files that were replaced since. nullopt: the marker is not brief, is damaged, or
// something of an interrupted stage is there; ReadLedger tells more.
absl::StatusOr<std::optional<BriefLedger>> ReadBriefLedger(Sandbox& sandbox);
// Returns the brief form of a ledger. nullopt: something must be repaired first.
std::optional<BriefLedger> BriefOf(const Ledger& ledger);
// A change of the file within the tick in which the marker was written may keep the file's stamp:
// time stamps come from a clock that ticks every 20 ms or more often.
inline bool IsStampRacy(const Ledger& ledger, const FileStamp& stamp) {
  constexpr int64_t kTickNs = 20'000'000;
  return stamp.ctime_ns >= ledger.written_ns - kTickNs;
}
// Called after EndStaging: `ledger` is the ledger that was read before.
void NoteLedgerHealed(const Ledger& ledger);
// Removes the marker, and writes `meanwhile` (without what only the marker says): what Galley may
// have there until EndStaging.
absl::Status BeginStaging(Sandbox& sandbox, const Ledger& meanwhile);
// Begins a stage that only replaces files. `root`: the new root.
absl::Status BeginReplacing(Sandbox& sandbox, BriefLedger& ledger, const Digest& root);
// Writes that the sandbox holds the root of `ledger`. REQUIRES: after BeginReplacing of the same
// ledger.
absl::Status EndReplacing(Sandbox& sandbox, const BriefLedger& ledger);
// Writes that the sandbox holds `root`, whose files have `stamps`; `files`, sorted, are all of
// Galley's files.
absl::Status EndStaging(Sandbox& sandbox, const Digest& root, std::span<const std::string> files,
                        const std::vector<FileStamp>& stamps);

}  // namespace galley::director

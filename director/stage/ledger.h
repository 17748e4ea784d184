// Ledger: the record of the files that Galley has put into a sandbox, kept in the sandbox itself as
// text.
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
//                               checksum. An older Galley takes it for a file of a person.
//
//   .galley-root.pending        Exists while staging runs, and after an interrupt. The file says
//                               what may be removed; nothing that it names is trusted to be whole.
//     root <hex>/<size>         for each root whose files may be there
//     path <path>               for each file that Galley put there
//     files <hex>               stands for a `path` line for each path of .galley-root.files, if
//                               that file has this checksum
//     next <hex>/<size> <path>  for each file that is about to be written where Galley has none.
//                               The file is Galley's only if it has these bytes, or if a power cut
//                               left none of them: no more bytes than these, all zero. Otherwise
//                               somebody else wrote the file.
//     end                       after the last of these lines
//     sum <hex>                 the SHA-256 of all lines before it (older Galleys wrote none)
//
// A damaged or foreign ledger file counts as absent: then all files are compared by digest, and the
// ledger is written anew, which is noted (repairs.h). A folder in the place of a ledger file is
// moved aside.
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
  std::optional<Digest> exact;  // the marker's root, which was staged completely
  // Stamps of the files of `exact`, in the order of their paths; empty: unknown.
  std::vector<FileStamp> stamps;
  // The time of the marker: a file that changed no earlier may have changed again unseen.
  int64_t written_ns = 0;
  std::vector<Digest> roots;  // roots whose files may be there, `exact` included; empty: none known
  // Files that Galley put there, sorted; an older Galley's list lacks the files of the roots.
  std::vector<std::string> files;
  std::vector<PlannedFile> planned;  // of an interrupted stage, sorted by path
  bool is_whole = false;            // `files` and `planned` are complete: no other file is Galley's
  std::vector<std::string> damage;  // faults of the ledger's files; EndStaging repairs them
  bool is_sealed = false;           // the marker has a checksum, which is right
  bool is_closed = false;           // there is a marker, and no rest of an interrupted stage
  std::string seal;                 // the marker's checksum, if the marker names all files itself
};

absl::StatusOr<Ledger> ReadLedger(Sandbox& sandbox);

// BriefLedger: the part of a ledger that staging needs to replace existing files. All of Galley's
// files are files of the root, and each file has a stamp.
struct BriefLedger {
  Digest root;
  std::string seal;  // of the file that names all files
  uint64_t files = 0;
  bool is_of_marker = true;  // true: the marker names all files; false: .galley-root.files does
  uint64_t size_bytes = 0;   // size and stamp of the file that names all files, to verify it
  FileStamp stamp;
  std::map<std::string, FileStamp> replaced;  // replaced since then, by path
};
// Beyond this many replaced files the marker names all files again.
inline constexpr size_t kReplacedMax = 2048;

// Cost: the replaced files. nullopt: the marker is not brief or is damaged, or an interrupted stage
// left files; ReadLedger tells more.
absl::StatusOr<std::optional<BriefLedger>> ReadBriefLedger(Sandbox& sandbox);
// Returns the brief form of a ledger. nullopt: a repair is needed first.
std::optional<BriefLedger> BriefOf(const Ledger& ledger);
// True: the file may have changed since the marker without a change of its stamp: time stamps come
// from a clock that ticks every 20 ms or more often.
inline bool IsStampRacy(const Ledger& ledger, const FileStamp& stamp) {
  constexpr int64_t kTickNs = 20'000'000;
  return stamp.ctime_ns >= ledger.written_ns - kTickNs;
}
// Notes the repaired damage (repairs.h). Call after EndStaging, with the ledger that was read
// before.
void NoteLedgerHealed(const Ledger& ledger);
// Writes the pending file from `meanwhile`, without the fields of the marker: the files that Galley
// may have there until EndStaging. Then removes the marker.
absl::Status BeginStaging(Sandbox& sandbox, const Ledger& meanwhile);
// Begins a stage that only replaces files, on the way to the new root `root`.
absl::Status BeginReplacing(Sandbox& sandbox, BriefLedger& ledger, const Digest& root);
// Writes the marker for the root of `ledger`. REQUIRES: BeginReplacing was called with the same
// ledger.
absl::Status EndReplacing(Sandbox& sandbox, const BriefLedger& ledger);
// Writes the marker: the sandbox holds `root`, whose files have `stamps`; `files`, sorted, are all
// of Galley's files.
absl::Status EndStaging(Sandbox& sandbox, const Digest& root, std::span<const std::string> files,
                        const std::vector<FileStamp>& stamps);

}  // namespace galley::director

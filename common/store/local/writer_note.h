// WriterNote: a list of the large files that a process puts into a store, so that a collection can
// tell files of a killed process from files that a live process is about to report.
//
//   writers/<pid>.<16 hex digits>   "galley-writer 1\n", and for each file, before it gets its
//                                   name: "<hex>/<size> <16 hex digits>\n"
//
// The hex digits at the end of a line are the checksum of the rest of the line; a line with a wrong
// checksum is ignored. The process holds the note's flock while it lives; a collection removes the
// note later. A note is not synced: after a power cut only the age of a file decides.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/digest.h"

namespace galley::store {

// The most bytes of a note; a full note says so, and then the age of the files decides.
inline constexpr uint64_t kWriterNoteBytesMax = 4 << 20;

// Notes that this process puts the file of `digest` in its place, or relies on the file there.
// RESOURCE_EXHAUSTED: there is no space for the note, so there would be none for the file.
// Threads: any.
absl::Status NoteWritten(const std::string& store_directory, const Digest& digest);

struct WriterNote {
  std::string path;
  bool is_live = false;   // the process lives
  bool is_whole = false;  // false: the note may lack files
  std::set<Digest> files;
};
// An unreadable note counts as the incomplete note of a live process.
absl::StatusOr<std::vector<WriterNote>> ReadWriterNotes(const std::string& store_directory);

std::string EncodeWritten(const Digest& digest);
struct Written {
  std::set<Digest> files;
  bool is_whole = true;  // false: a line is damaged or cut off, or the note was full
};
Written DecodeWritten(std::string_view text);

}  // namespace galley::store

// WriterNote: which large files a process puts into a store, so that a collection can tell those of
// a process that was killed from those that somebody is about to report.
//
//   writers/<pid>.<16 hex digits>   "galley-writer 1\n", and for each file, before it gets its
//                                   name: "<hex>/<size> <16 hex digits>\n"
//
// The hex digits at the end of a line are the checksum of what is before them; a line that is wrong
// says nothing. The process holds the note's flock as long as it lives, and leaves the note behind:
// a collection removes it. A note is not synced: after a power cut the age of a file decides alone.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/digest.h"

namespace galley::store {

// More than this is not noted, and the note says so: the age of the files decides then.
inline constexpr uint64_t kWriterNoteBytesMax = 4 << 20;

// This process puts the file of `digest` in its place, or relies on the one that lies there.
// RESOURCE_EXHAUSTED: there is no space for the note, so there would be none for the file.
// Threads: any.
absl::Status NoteWritten(const std::string& store_directory, const Digest& digest);

struct WriterNote {
  std::string path;
  bool is_live = false;   // its process lives
  bool is_whole = false;  // else it may be about other files, too
  std::set<Digest> files;
};
// A note that nobody may read counts as that of a process which lives, and is not whole.
absl::StatusOr<std::vector<WriterNote>> ReadWriterNotes(const std::string& store_directory);

std::string EncodeWritten(const Digest& digest);
struct Written {
  std::set<Digest> files;
  bool is_whole = true;  // false: a line is damaged or cut off, or more was written than is noted
};
Written DecodeWritten(std::string_view text);

}  // namespace galley::store

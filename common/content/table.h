// FileTable: what a Snapshot holds, as plain values, and its encoding (the payload of the file that
// WriteTable makes).
//
// Payload: identity, mounts, ignore patterns, excluded folders, then the shown and the hidden
// files, each: path after the one before, mount, host path (empty when it is the mount's folder and
// the rest of the path), stat, times, flags, error, digest. See table.cc for the order.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/digest.h"
#include "common/content/snapshot.h"
#include "common/content/walk.h"

namespace galley::content {

struct TakenDigest {
  Digest digest;
  int64_t hashed_ns = 0;  // wall time before its first byte was read
};

// Knowledge: what is known of a file beside its entry.
struct Knowledge {
  int64_t seen_ns = 0;
  bool has_clash = false;  // the entry's error was given by Overlay, not by the file itself
  std::optional<TakenDigest> known;
};

struct FileTable {
  std::string identity;  // see Snapshot::WriteTable
  std::vector<Mount> mounts;
  std::vector<std::string> ignore;
  std::vector<std::string> excluded_directories;
  std::vector<FileEntry> files;      // sorted by path, unique
  std::vector<Knowledge> knowledge;  // as many
  std::vector<SeenFile> hidden;
};

// Encodes `table` with `identity` instead of the table's own.
std::string EncodeTable(const FileTable& table, std::string_view identity);
// INVALID_ARGUMENT for anything that EncodeTable would not write in meaning: order, indices, paths.
absl::StatusOr<FileTable> DecodeTable(std::string_view payload);

}  // namespace galley::content

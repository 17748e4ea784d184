// SyncList: the file `.galley-sync` of a folder that `galley device sync` fills: which files it put
// there, and which root the folder is a copy of.
//
//   galley-sync 1
//   platform pc
//   culture de                            one line for each, sorted
//   scope Game/maps                       one line for each part that is copied, sorted; none: all
//   root <hex>/<size>                     of the last sync that was whole; absent: none was
//   file <hex>/<size> <mtime in ns> Game/maps/town.level.cbor
//   gone Game/maps/old.level.cbor
//
// A sync that runs appends the lines `file` and `gone` to the list: `file` before it puts a file in
// its place, so that a sync that was killed has put nothing there that the list does not name. A
// later line for a path wins. A line without an end was being written.
//
// Threads: none.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/digest.h"

namespace galley::device {

inline constexpr const char* kSyncListFile = ".galley-sync";

// SyncedFrom: what the folder is a copy of.
struct SyncedFrom {
  std::string platform;
  std::vector<std::string> cultures, scopes;  // sorted
  bool operator==(const SyncedFrom&) const = default;
};

struct SyncedFile {
  Digest digest;
  int64_t mtime_ns = 0;
  bool operator==(const SyncedFile&) const = default;
};

struct SyncList {
  SyncedFrom from;
  std::string root;  // empty: the last sync was not whole
  std::map<std::string, SyncedFile> files;

  bool is_empty() const { return from.platform.empty(); }
  // INVALID_ARGUMENT: it is no such list.
  static absl::StatusOr<SyncList> Parse(std::string_view text);
  std::string ToText() const;
};

std::string FileLine(const std::string& path, const SyncedFile& file);
std::string GoneLine(const std::string& path);

}  // namespace galley::device

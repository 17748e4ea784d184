// Walk: looks at the files of one or more mounts with several threads. Gives each odd file an entry
// with an error instead of failing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/cancellation.h"
#include "common/base/clock.h"
#include "common/content/ignore_rules.h"
#include "common/content/snapshot.h"
#include "common/content/stamp_table.h"

namespace galley::content {

// Limits. kFolderLinksMax: links to folders that may follow each other on a path, since links
// multiply the files.
inline constexpr size_t kFilesMax = 16'000'000;
inline constexpr int kFolderLinksMax = 4;

struct SeenFile {
  FileEntry entry;
  int64_t seen_ns = 0;                          // wall time just before the look
  std::optional<FileStat> link = std::nullopt;  // of a link that led to `entry`
};

// SeenFolder: a folder that was looked into, or a sandbox, which was not.
struct SeenFolder {
  std::string host_path;
  FileStat stat;        // links followed; all zero: the folder, or an entry, vanished meanwhile
  int64_t seen_ns = 0;  // wall time before its names were read
  NamesHash names{};
  bool is_link = false;
  bool is_sandbox = false;
};

struct WalkOptions {
  const std::vector<Mount>& mounts;
  const IgnoreRules& ignore;
  Clock& clock;
  unsigned threads = 0;
  const Cancellation* stop = nullptr;  // ends Walk with CANCELLED
  bool follow_links = true;            // within their mount; false: every link is an odd file
  // Virtual paths. Not empty: only these paths, and all below them, are looked at.
  std::vector<std::string> targets;
  // Not null: sandboxes below the top folder of a mount are not looked into, and their host paths
  // are added here, in no particular order.
  std::vector<std::string>* sandboxes = nullptr;
  // Not null, and no targets: all folders are added here, in no particular order.
  std::vector<SeenFolder>* folders = nullptr;
};

// Returns the files in no particular order. INVALID_ARGUMENT, with its name: a mount is no folder.
// RESOURCE_EXHAUSTED: more than kFilesMax files. CANCELLED: `stop` was cancelled.
absl::StatusOr<std::vector<SeenFile>> Walk(const WalkOptions& options);

}  // namespace galley::content

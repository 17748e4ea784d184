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

// Limits. Links to folders may lead into linked folders only so deep, since links that meet
// multiply what is seen.
inline constexpr size_t kFilesMax = 16'000'000;
inline constexpr int kFolderLinksMax = 4;

struct SeenFile {
  FileEntry entry;
  int64_t seen_ns = 0;                          // wall time just before it was looked at
  std::optional<FileStat> link = std::nullopt;  // of the link itself, where a link led to `entry`
};

// A folder that was looked into, or that was not, for it is a sandbox.
struct SeenFolder {
  std::string host_path;
  FileStat stat;        // links followed; all zero: it, or what it listed, went meanwhile
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
  const Cancellation* stop = nullptr;  // ends it with CANCELLED
  bool follow_links = true;            // within their mount; else each is an odd file
  // Virtual paths; when not empty, only what is there or below is looked at.
  std::vector<std::string> targets;
  // Not null: folders below a mount's own that are sandboxes are not looked into, and their host
  // paths are added here, in no particular order.
  std::vector<std::string>* sandboxes = nullptr;
  // Not null, and no targets: all folders are added here, in no particular order.
  std::vector<SeenFolder>* folders = nullptr;
};

// In no particular order. INVALID_ARGUMENT: a mount that is no folder (named). RESOURCE_EXHAUSTED:
// more than kFilesMax files. CANCELLED: it was stopped.
absl::StatusOr<std::vector<SeenFile>> Walk(const WalkOptions& options);

}  // namespace galley::content

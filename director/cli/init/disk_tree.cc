#include "director/cli/init/disk_tree.h"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>

#include "common/base/file.h"
#include "common/base/file_head.h"
#include "common/base/status_macros.h"
#include "common/content/name.h"
#include "fmt/format.h"

namespace galley::init {
namespace {

struct DirectoryCloser {
  void operator()(DIR* directory) const { ::closedir(directory); }
};
using Directory = std::unique_ptr<DIR, DirectoryCloser>;

// "" when there is none.
std::string RealPath(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr),
                                                         &std::free);
  return real == nullptr ? "" : real.get();
}

// "path `/a` has a backslash" -> "has a backslash"
std::string WhatIsWrong(const std::string& refusal) {
  const size_t end = refusal.rfind("` ");
  return end == std::string::npos ? refusal : refusal.substr(end + 2);
}

std::string Below(const std::string& directory, const std::string& path) {
  return path.empty() ? directory : JoinPath(directory, path);
}

}  // namespace

DiskTree::DiskTree(std::string directory)
    : directory_(std::move(directory)), real_(RealPath(directory_)) {}

absl::StatusOr<std::vector<Entry>> DiskTree::List(const std::string& folder) const {
  const std::string path = Below(directory_, folder);
  const Directory directory(::opendir(path.c_str()));
  if (directory == nullptr) return ErrnoStatus(errno, "reading", path);
  std::vector<Entry> entries;
  errno = 0;
  while (const dirent* entry = ::readdir(directory.get())) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") entries.push_back(LookAtEntry(path, name));
    errno = 0;
  }
  if (errno != 0) return ErrnoStatus(errno, "reading", path);
  std::ranges::sort(entries, [](const Entry& a, const Entry& b) { return a.name < b.name; });
  return entries;
}

Entry DiskTree::LookAtEntry(const std::string& folder, const std::string& name) const {
  Entry entry{.name = name};
  const auto refuse = [&entry](std::string why) {
    entry.kind = EntryKind::kTrouble;
    entry.trouble = std::move(why);
  };
  if (const absl::Status valid = content::ValidateVirtualPath("/" + name); !valid.ok()) {
    refuse(fmt::format("a name that {}, which no package can have", WhatIsWrong(MessageOf(valid))));
    entry.has_bad_name = true;
    return entry;
  }
  const std::string path = JoinPath(folder, name);
  const auto stat = StatFile(path, /*follow_links=*/false);
  if (!stat.ok()) {
    refuse("a file that cannot be looked at");
  } else if (S_ISLNK(stat->mode)) {
    FollowLink(path, entry);
  } else if (S_ISDIR(stat->mode)) {
    entry.kind = EntryKind::kFolder;
  } else if (S_ISREG(stat->mode)) {
    entry.size_bytes = stat->size_bytes;
  } else {
    refuse("a device, a pipe or a socket");
  }
  return entry;
}

void DiskTree::FollowLink(const std::string& host_path, Entry& entry) const {
  entry.kind = EntryKind::kTrouble;
  const std::string target = RealPath(host_path);
  const auto stat =
      target.empty() ? absl::StatusOr<FileStat>(absl::NotFoundError("")) : StatFile(target);
  if (!stat.ok()) {
    entry.trouble = "a link to nothing, or in a loop";
  } else if (target == real_) {
    entry.trouble = "a link to a folder that contains it";
  } else if (!content::IsUnder(target, real_)) {
    entry.trouble = "a link out of the folder";
  } else if (S_ISREG(stat->mode)) {
    entry.kind = EntryKind::kFile;
    entry.size_bytes = stat->size_bytes;
    entry.link_target = target.substr(real_.size() + 1);
  } else if (!S_ISDIR(stat->mode)) {
    entry.trouble = "a link to a device, a pipe or a socket";
  } else if (content::IsUnder(host_path, target) ||
             content::IsUnder(RealPath(host_path.substr(0, host_path.rfind('/'))), target)) {
    entry.trouble = "a link to a folder that contains it";
  } else {
    entry.kind = EntryKind::kFolder;
    entry.link_target = target.substr(real_.size() + 1);
  }
}

absl::StatusOr<std::string> DiskTree::Read(const std::string& path, size_t bytes_max) const {
  return ReadFileHead(Below(directory_, path), bytes_max);
}

}  // namespace galley::init

#include "director/cli/change_list.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <set>
#include <system_error>

#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/content/name.h"
#include "fmt/format.h"

namespace galley::cli {
namespace {

std::string Canonical(const std::string& path) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::weakly_canonical(path, error);
  return error ? path : real.string();
}

absl::StatusOr<std::string> TextOf(const std::string& file) {
  if (file == "-")
    return std::string(std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>());
  absl::StatusOr<std::string> text = ReadFile(file);
  if (text.ok()) return text;
  return absl::InvalidArgumentError(
      fmt::format("--changed {}: expected a file with a list of paths, or - for standard input: {}",
                  file, MessageOf(text.status())));
}

}  // namespace

std::vector<std::string> PathsIn(std::string_view text) {
  const char separator = text.find('\0') != std::string_view::npos ? '\0' : '\n';
  std::vector<std::string> paths;
  while (!text.empty()) {
    std::string_view path = text.substr(0, text.find(separator));
    text.remove_prefix(std::min(text.size(), path.size() + 1));
    if (separator == '\n' && path.ends_with('\r')) path.remove_suffix(1);
    if (!path.empty()) paths.emplace_back(path);
  }
  return paths;
}

void AddPath(const project::Project& project, const std::string& named, ChangeList& list) {
  std::string path = named;
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  std::set<std::string> found;
  for (const content::Mount& mount : project.mounts) {
    if (content::IsUnder(path, mount.path)) found.insert(path);
    // A folder that the mount is in: all of it.
    if (content::IsUnder(mount.path, path)) found.insert(mount.path);
    for (const std::string& host : {AbsolutePath(path), Canonical(AbsolutePath(path))}) {
      for (const std::string& folder : {mount.directory, Canonical(mount.directory)}) {
        if (content::IsUnder(host, folder)) found.insert(mount.path + host.substr(folder.size()));
        if (content::IsUnder(folder, host)) found.insert(mount.path);
      }
    }
  }
  list.elsewhere += found.empty();
  list.paths.insert(list.paths.end(), found.begin(), found.end());
}

absl::StatusOr<ChangeList> ReadChangeLists(const project::Project& project,
                                           const std::vector<std::string>& files) {
  ChangeList list;
  for (const std::string& file : files) {
    ASSIGN_OR_RETURN(const std::string text, TextOf(file));
    for (const std::string& path : PathsIn(text)) AddPath(project, path, list);
  }
  std::sort(list.paths.begin(), list.paths.end());
  list.paths.erase(std::unique(list.paths.begin(), list.paths.end()), list.paths.end());
  return list;
}

}  // namespace galley::cli

#include "director/cli/init/content_roots.h"

#include <algorithm>
#include <map>
#include <set>

#include "common/base/plain_text.h"
#include "common/content/name.h"
#include "director/cli/init/name_rules.h"

namespace galley::init {
namespace {

// Folders with such names must hold so many hundredths of what can be cooked.
constexpr size_t kNamedShare = 75;
// In a program's repository, a folder that has so many hundredths is the content.
constexpr size_t kMainShare = 90;
// Another folder is a root of its own when it holds so many hundredths of what can be cooked.
constexpr size_t kOtherShare = 3;

bool IsContentName(std::string_view name) {
  static const std::set<std::string, std::less<>> names = {
      "assets",    "asset",    "content", "contents", "data", "media",
      "resources", "resource", "res",     "gamedata", "art",  "public"};
  return names.contains(InLowerCase(name));
}

std::vector<std::string_view> Segments(std::string_view path) {
  std::vector<std::string_view> segments;
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    segments.push_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return segments;
}

bool IsAside(std::string_view path) {
  for (const std::string_view segment : Segments(FolderOf(path))) {
    if (IsContentName(segment)) return false;
    if (IsFolderAside(segment)) return true;
  }
  return false;
}

// "mods/x/assets/a/b.png" -> "mods/x/assets"; "" when there is no such folder.
std::string_view NamedFolder(std::string_view path) {
  const std::string_view folder = FolderOf(path);
  size_t end = 0;
  if (folder.empty()) return {};
  for (const std::string_view segment : Segments(folder)) {
    end += segment.size();
    if (IsContentName(segment)) return folder.substr(0, end);
    ++end;
  }
  return {};
}

// The folder in which all paths lie.
std::string CommonFolder(const std::vector<std::string_view>& paths) {
  if (paths.empty()) return "";
  std::string_view common = FolderOf(paths[0]);
  for (const std::string_view path : paths) {
    while (!common.empty() && !(path.starts_with(common) && path[common.size()] == '/'))
      common = FolderOf(common);
  }
  return std::string(common);
}

std::string Cleaned(std::string_view name) {
  std::string clean;
  for (const char c : name) clean += IsAlphanumericOr(c, "_-") ? c : '_';
  return clean.empty() ? "Content" : clean;
}

// The last segment that is no content name: "x" of "mods/x/assets", "data" of "data".
std::string_view OwnName(std::string_view folder) {
  for (std::string_view rest = folder; !rest.empty(); rest = FolderOf(rest)) {
    if (!IsContentName(FileName(rest))) return FileName(rest);
  }
  return FileName(folder);
}

std::vector<Root> WithVirtualPaths(std::vector<std::pair<size_t, std::string>> folders) {
  std::ranges::stable_sort(folders, [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  std::vector<Root> roots;
  std::set<std::string> taken;
  for (const auto& [count, folder] : folders) {
    const std::string name = roots.empty() ? "Game" : Cleaned(OwnName(folder));
    std::string path = "/" + name;
    for (int i = 2; !taken.insert(content::FoldName(path)).second; ++i)
      path = "/" + name + std::to_string(i);
    roots.push_back({path, folder, IsContentName(FileName(folder))});
  }
  return roots;
}

// Folders as their number of files that can be cooked.
using Counts = std::map<std::string, size_t>;

Counts CountByNamedFolder(const std::vector<std::string_view>& paths) {
  Counts counts;
  for (const std::string_view path : paths) {
    if (const std::string_view folder = NamedFolder(path); !folder.empty())
      ++counts[std::string(folder)];
  }
  return counts;
}

// Counts the files outside of the named folders by top-level folder. Top-level folders that hold a
// named folder are left out.
Counts CountOthers(const std::vector<std::string_view>& paths, const Counts& named) {
  Counts counts;
  for (const std::string_view path : paths) {
    if (!NamedFolder(path).empty() || path.find('/') == std::string_view::npos) continue;
    const std::string top(path.substr(0, path.find('/')));
    const bool holds_named = std::ranges::any_of(
        named, [&](const auto& each) { return each.first.starts_with(top + "/"); });
    if (!holds_named) ++counts[top];
  }
  return counts;
}

// The folder has files of a build tool.
bool IsRepository(const std::vector<Judged>& files, std::string_view folder) {
  return std::ranges::any_of(files, [&](const Judged& file) {
    return FolderOf(file.file.path) == folder && IsBuildFile(file.file.path);
  });
}

std::vector<Root> RootsOfRepository(const std::vector<std::string_view>& cooked,
                                    const std::string& folder) {
  const size_t begin = folder.empty() ? 0 : folder.size() + 1;
  Counts counts;
  for (const std::string_view path : cooked) {
    const size_t end = path.find('/', begin);
    if (end != std::string_view::npos) ++counts[std::string(path.substr(0, end))];
  }
  std::vector<std::pair<size_t, std::string>> folders;
  bool has_main = false;
  for (const auto& [path, count] : counts) {
    has_main |= count * 100 >= cooked.size() * kMainShare;
    if (count * 100 >= cooked.size() * kOtherShare) folders.emplace_back(count, path);
  }
  if (!has_main) return {{"/Game", folder, false}};
  return WithVirtualPaths(std::move(folders));
}

}  // namespace

std::vector<Root> ChooseRoots(const std::vector<Judged>& files) {
  std::vector<std::string_view> cooked;
  std::vector<std::string_view> packages;
  for (const Judged& file : files) {
    if (!IsPackage(file.decision) || IsAside(file.file.path) || IsLicence(file.file.path)) continue;
    packages.push_back(file.file.path);
    if (file.decision.action == Action::kCook) cooked.push_back(file.file.path);
  }
  if (cooked.empty()) cooked = packages;
  if (packages.empty()) {
    for (const Judged& file : files) {
      if (file.decision.action == Action::kCook) packages.push_back(file.file.path);
    }
    return {{"/Game", CommonFolder(packages), false}};
  }
  const Counts named = CountByNamedFolder(cooked);
  size_t in_named = 0;
  for (const auto& [folder, count] : named) in_named += count;
  if (in_named == 0 || in_named * 100 < cooked.size() * kNamedShare) {
    const std::string common = CommonFolder(packages);
    if (IsRepository(files, common)) return RootsOfRepository(cooked, common);
    return {{"/Game", common, IsContentName(FileName(common))}};
  }
  std::vector<std::pair<size_t, std::string>> folders;
  for (const auto& [folder, count] : named) folders.emplace_back(count, folder);
  for (const auto& [folder, count] : CountOthers(cooked, named)) {
    if (count * 100 >= cooked.size() * kOtherShare) folders.emplace_back(count, folder);
  }
  return WithVirtualPaths(std::move(folders));
}

const Root* RootOf(const std::vector<Root>& roots, std::string_view path) {
  for (const Root& root : roots) {
    const std::string& folder = root.folder;
    if (folder.empty() ||
        (path.starts_with(folder) && path.size() > folder.size() && path[folder.size()] == '/'))
      return &root;
  }
  return nullptr;
}

std::string VirtualPath(const Root& root, std::string_view path) {
  if (root.folder.empty()) return root.path + "/" + std::string(path);
  return root.path + std::string(path.substr(root.folder.size()));
}

}  // namespace galley::init

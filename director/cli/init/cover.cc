#include "director/cli/init/cover.h"

#include <algorithm>
#include <map>

#include "fmt/format.h"
#include "fmt/ranges.h"

namespace galley::init {
namespace {

// Names in one pair of braces: a line that can still be read.
constexpr size_t kNamesInBraces = 12;

struct Folder {
  size_t all = 0;     // in the folder and below
  size_t chosen = 0;  // the same
  size_t all_here = 0;
  std::vector<std::string> names;  // chosen, in it
  std::map<std::string, Folder, std::less<>> folders;
};

void Add(Folder& top, std::string_view path, bool is_chosen) {
  Folder* folder = &top;
  size_t begin = 1;  // behind the leading '/'
  while (true) {
    ++folder->all;
    folder->chosen += is_chosen ? 1 : 0;
    const size_t slash = path.find('/', begin);
    if (slash == std::string_view::npos) break;
    folder = &folder->folders[std::string(path.substr(begin, slash - begin))];
    begin = slash + 1;
  }
  ++folder->all_here;
  if (is_chosen) folder->names.emplace_back(path.substr(begin));
}

void NameFiles(const std::string& path, const std::vector<std::string>& names,
               std::vector<std::string>& globs) {
  for (size_t i = 0; i < names.size(); i += kNamesInBraces) {
    std::vector<std::string> quoted;
    for (size_t j = i; j < std::min(names.size(), i + kNamesInBraces); ++j)
      quoted.push_back(AsGlob(names[j]));
    globs.push_back(quoted.size() == 1 ? fmt::format("{}/{}", path, quoted[0])
                                       : fmt::format("{}/{{{}}}", path, fmt::join(quoted, ",")));
  }
}

void Visit(const std::string& path, const Folder& folder, std::string_view name_glob,
           std::vector<std::string>& globs) {
  if (folder.chosen == 0) return;
  if (folder.chosen == folder.all && folder.all > 1 && !path.empty()) {
    globs.push_back(fmt::format("{}/{}{}", path, folder.folders.empty() ? "" : "**/", name_glob));
    return;
  }
  if (folder.names.size() == folder.all_here && folder.all_here > 1) {
    globs.push_back(fmt::format("{}/{}", path, name_glob));
  } else {
    NameFiles(path, folder.names, globs);
  }
  for (const auto& [name, below] : folder.folders)
    Visit(path + "/" + AsGlob(name), below, name_glob, globs);
}

}  // namespace

std::string AsGlob(std::string_view path) {
  std::string glob(path);
  for (char& c : glob) {
    if (std::string_view("*?[]{},\\").find(c) != std::string_view::npos) c = '?';
  }
  return glob;
}

std::vector<std::string> Cover(const std::set<std::string>& all,
                               const std::set<std::string>& chosen, std::string_view name_glob) {
  Folder top;
  for (const std::string& path : all) Add(top, path, chosen.contains(path));
  std::vector<std::string> globs;
  Visit("", top, name_glob, globs);
  return globs;
}

}  // namespace galley::init

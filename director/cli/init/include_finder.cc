#include "director/cli/init/include_finder.h"

#include <utility>

#include "common/content/name.h"
#include "director/cli/init/name_rules.h"

namespace galley::init {

IncludeFinder::IncludeFinder(const std::vector<Root>& roots, std::vector<Judged>& files)
    : roots_(roots) {
  for (Judged& file : files) {
    const Root* root = RootOf(roots, file.file.path);
    if (root == nullptr || !MayBeIncluded(file.file.path)) continue;
    std::string path = VirtualPath(*root, file.file.path);
    by_name_.emplace(FileName(path), path);
    by_virtual_path_.emplace(std::move(path), &file);
  }
}

void IncludeFinder::TakeOutlines(std::vector<Judged*> shaders, Looker& looker) {
  std::set<const Judged*> known(shaders.begin(), shaders.end());
  while (!shaders.empty()) {
    LookAsk ask{.paths = {}, .cooker = "shader", .is_outline = true};
    for (const Judged* shader : shaders) ask.paths.push_back(shader->file.path);
    std::map<std::string, Look> outlines = looker.LookAt(ask);
    std::vector<Judged*> included;
    for (Judged* shader : shaders) {
      shader->outline = std::move(outlines[shader->file.path]);
      for (const std::string& name : shader->outline.includes) {
        std::string folder;
        Judged* const file = FindFile(name, *shader, folder);
        if (file != nullptr && known.insert(file).second) included.push_back(file);
      }
    }
    shaders = std::move(included);
  }
}

FoundIncludes IncludeFinder::FindIncludes(const Judged& shader) const {
  FoundIncludes found;
  for (std::vector<const Judged*> left = {&shader}; !left.empty();) {
    const Judged& file = *left.back();
    left.pop_back();
    for (const std::string& name : file.outline.includes) {
      std::string folder;
      const Judged* const included = FindFile(name, file, folder);
      if (included == nullptr) continue;
      if (!folder.empty()) found.folders.insert(folder);
      if (found.files.insert(included->file.path).second) left.push_back(included);
    }
  }
  return found;
}

Judged* IncludeFinder::FindFile(std::string_view name, const Judged& includer,
                                std::string& folder) const {
  const Root* root = RootOf(roots_, includer.file.path);
  const auto asked = content::NormalizeAsked(name);
  if (root == nullptr || !asked.ok()) return nullptr;
  const auto path = content::ResolveAsked(VirtualPath(*root, includer.file.path), *asked);
  if (path.ok()) {
    if (const auto found = by_virtual_path_.find(*path); found != by_virtual_path_.end())
      return found->second;
  }
  return asked->starts_with('/') ? nullptr : FindElsewhere(*asked, *root, folder);
}

Judged* IncludeFinder::FindElsewhere(std::string_view name, const Root& root,
                                     std::string& folder) const {
  const std::string end = "/" + std::string(name);
  const std::string* best = nullptr;
  const auto [begin, past] = by_name_.equal_range(FileName(name));
  for (auto at = begin; at != past; ++at) {
    const std::string& path = at->second;
    if (!path.ends_with(end)) continue;
    const bool is_nearer = content::IsUnder(path, root.path) &&
                           (best == nullptr || !content::IsUnder(*best, root.path));
    if (best == nullptr || is_nearer) best = &path;
  }
  if (best == nullptr) return nullptr;
  folder = best->substr(0, best->size() - end.size());
  return by_virtual_path_.find(*best)->second;
}

}  // namespace galley::init

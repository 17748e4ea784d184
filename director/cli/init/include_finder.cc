#include "director/cli/init/include_finder.h"

#include "common/content/name.h"
#include "director/cli/init/name_rules.h"
#include "director/cli/init/shader_source.h"

namespace galley::init {
namespace {

constexpr int kDepthMax = 32;
constexpr size_t kTextBytesMax = 4 << 20;

}  // namespace

IncludeFinder::IncludeFinder(const std::vector<Root>& roots, const std::vector<Judged>& files)
    : roots_(roots) {
  for (const Judged& file : files) {
    const Root* root = RootOf(roots, file.file.path);
    if (root == nullptr || !MayBeIncluded(file.file.path)) continue;
    std::string path = VirtualPath(*root, file.file.path);
    by_name_.emplace(FileName(path), path);
    by_virtual_path_.emplace(std::move(path), &file);
  }
}

ExpandedShader IncludeFinder::Expand(const Judged& shader) const {
  ExpandedShader expanded;
  Append(shader, 0, expanded);
  return expanded;
}

void IncludeFinder::Append(const Judged& file, int depth, ExpandedShader& shader) const {
  shader.text += file.shader_text;
  shader.text += '\n';
  for (const std::string& name : IncludesOf(file.shader_text)) {
    if (depth >= kDepthMax || shader.text.size() > kTextBytesMax) return;
    const Judged* included = Find(name, file, shader);
    if (included == nullptr) {
      if (shader.missing.empty()) shader.missing = name;
    } else if (shader.files.insert(included->file.path).second) {
      Append(*included, depth + 1, shader);
    }
  }
}

const Judged* IncludeFinder::Find(std::string_view name, const Judged& includer,
                                  ExpandedShader& shader) const {
  const Root* root = RootOf(roots_, includer.file.path);
  const auto asked = content::NormalizeAsked(name);
  if (root == nullptr || !asked.ok()) return nullptr;
  const auto path = content::ResolveAsked(VirtualPath(*root, includer.file.path), *asked);
  if (path.ok()) {
    if (const auto found = by_virtual_path_.find(*path); found != by_virtual_path_.end())
      return found->second;
  }
  return asked->starts_with('/') ? nullptr : FindElsewhere(*asked, *root, shader);
}

const Judged* IncludeFinder::FindElsewhere(std::string_view name, const Root& root,
                                           ExpandedShader& shader) const {
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
  shader.folders.insert(best->substr(0, best->size() - end.size()));
  return by_virtual_path_.find(*best)->second;
}

}  // namespace galley::init

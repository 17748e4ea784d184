#include "director/shell/path_index.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "common/content/name.h"
#include "common/project/project.h"
#include "common/record/result.h"
#include "common/tree/plain_name.h"
#include "director/core/packages/package_data.h"
#include "director/shell/root_builder.h"
#include "director/shell/stage_path.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

constexpr std::string_view kGenerated = "/_gen/";
constexpr std::string_view kGeneratedFolder = "/_gen";
constexpr std::string_view kFurtherFolder = ".d";

bool IsGenerated(std::string_view name) { return name.find(kGenerated) != std::string_view::npos; }

// The sizes of the stems of a virtual path, whose rest is the suffix of an output. REQUIRES: the
// path is plain.
std::vector<size_t> StemsOf(std::string_view path) {
  std::vector<size_t> stems = {path.size()};
  const size_t name = path.rfind('/') + 1;
  for (size_t at = path.find('.'); at != std::string_view::npos; at = path.find('.', at + 1)) {
    const std::string_view suffix = path.substr(at);
    const bool is_further = suffix.starts_with(".d/");
    if (path[at - 1] == '/' || suffix.size() > record::kSuffixBytesMax) continue;
    if (!is_further && (at < name || suffix == "." || suffix == ".." || suffix == ".d")) continue;
    stems.push_back(at);
  }
  return stems;
}

}  // namespace

// Query: a question about one path, and its answer so far.
struct PathIndex::Query {
  std::string path;  // virtual: with a leading '/'
  // Folders of the path at which mounts are staged: the size of the folder, and the mount's path.
  std::vector<std::pair<size_t, std::string>> mounts;
  bool is_of_folder = false;   // FolderOwnersOf
  std::set<std::string> seen;  // packages
  PathOwners found;
};

// Candidate: a package whose StagePath folds to the stem.
struct PathIndex::Candidate {
  std::string package;
  std::vector<std::string> generators;
  const record::OutputNames* outputs = nullptr;  // nullptr: not known
  PackagePaths paths;
  std::string_view suffix;  // as asked
};

PathIndex::PathIndex(std::shared_ptr<const ProjectCatalog> catalog, PlatformIndex platform)
    : catalog_(std::move(catalog)),
      platform_(platform),
      is_for_windows_(IsForWindows(catalog_->project()->platforms.at(platform))) {
  for (const content::Mount& mount : catalog_->project()->mounts) {
    const std::string& staged = mount.stage_as.empty() ? mount.path : mount.stage_as;
    std::vector<std::string>& mounts = staged_at_[content::FoldName(staged)];
    if (std::ranges::find(mounts, mount.path) == mounts.end()) mounts.push_back(mount.path);
    const auto depth = static_cast<size_t>(std::ranges::count(staged, '/'));
    staged_depth_max_ = std::max(staged_depth_max_, depth);
  }
}

PathOwners PathIndex::OwnersOf(std::string_view path) const {
  if (!tree::IsPlainPath(path)) return {};
  Query query;
  query.path = fmt::format("/{}", path);
  AddMounts(query);
  for (const size_t stem_size : StemsOf(query.path)) LookUpStem(stem_size, query);
  return TakeFound(query);
}

PathOwners PathIndex::FolderOwnersOf(std::string_view path) const {
  const std::string_view suffix =
      path.ends_with(kGeneratedFolder) ? kGeneratedFolder : kFurtherFolder;
  if (!tree::IsPlainPath(path) || !path.ends_with(suffix) || path.size() == suffix.size())
    return {};
  Query query{.path = fmt::format("/{}", path), .is_of_folder = true};
  AddMounts(query);
  LookUpStem(query.path.size() - suffix.size(), query);
  return TakeFound(query);
}

PathOwners PathIndex::TakeFound(Query& query) {
  const auto key = [](const PathOwner& owner) { return std::tie(owner.path, owner.package); };
  const auto less = [&](const PathOwner& a, const PathOwner& b) { return key(a) < key(b); };
  std::ranges::sort(query.found.owners, less);
  std::ranges::sort(query.found.twins, less);
  return std::move(query.found);
}

void PathIndex::AddMounts(Query& query) const {
  size_t end = query.path.find('/', 1);
  for (size_t depth = 0; depth < staged_depth_max_ && end != std::string::npos; ++depth) {
    const auto found = staged_at_.find(content::FoldName(query.path.substr(0, end)));
    if (found != staged_at_.end()) {
      for (const std::string& mount : found->second) query.mounts.emplace_back(end, mount);
    }
    end = query.path.find('/', end + 1);
  }
}

void PathIndex::LookUpStem(size_t stem_size, Query& query) const {
  const std::string stem = query.path.substr(0, stem_size);
  for (const auto& [folder_size, mount] : query.mounts) {
    if (folder_size < stem_size) LookUpName(mount + stem.substr(folder_size), stem_size, query);
  }
  // A file of one mount may have the very path at which another mount, which is empty, is shown.
  const auto found = staged_at_.find(content::FoldName(stem));
  if (found == staged_at_.end()) return;
  for (const std::string& mount : found->second) LookUpName(mount, stem_size, query);
}

// `name`: a package that would have the stem, if there were one, or such a name but for case.
void PathIndex::LookUpName(const std::string& name, size_t stem_size, Query& query) const {
  const std::string file = name.substr(0, name.find(kGenerated));
  ++query.found.look_ups;
  for (const content::FileEntry* entry : catalog_->snapshot().FindAllFolded(file)) {
    // A file below a folder `_gen` is taken for a generated package, and has no generator.
    if (IsGenerated(entry->path)) continue;
    ConsiderPackage(entry->path + name.substr(file.size()), entry->path, stem_size, query);
  }
}

// `file`: the package itself, or the file that is its outermost generator.
void PathIndex::ConsiderPackage(std::string package, std::string_view file, size_t stem_size,
                                Query& query) const {
  const std::optional<CatalogEntry> entry = catalog_->Find(file);
  if (!entry) return;
  Candidate candidate{.package = std::move(package),
                      .suffix = std::string_view(query.path).substr(stem_size)};
  if (!FindGenerators(candidate.package, candidate.generators)) return;
  const RecipesPtr recipes = candidate.generators.empty()
                                 ? catalog_->RecipesByRules(candidate.package)
                                 : catalog_->GeneratedRecipesOf(candidate.package);
  candidate.outputs = OutputsOf(recipes);
  candidate.paths = PathsBy(candidate.package, *entry, recipes);
  const std::string_view stem = std::string_view(query.path).substr(1, stem_size - 1);
  if (content::FoldName(candidate.paths.stem) != content::FoldName(stem)) return;
  if (query.seen.insert(candidate.package).second) AddOwners(candidate, query);
}

// Fills in the generators of a package, the outermost first. False: one of them never generates.
bool PathIndex::FindGenerators(const std::string& package,
                               std::vector<std::string>& generators) const {
  for (std::string_view name = GeneratorName(package); !name.empty(); name = GeneratorName(name)) {
    const RecipesPtr recipes =
        IsGenerated(name) ? catalog_->GeneratedRecipesOf(name) : catalog_->RecipesByRules(name);
    const record::OutputNames* const outputs = OutputsOf(recipes);
    if (outputs != nullptr && !outputs->may_generate) return false;
    generators.emplace_back(name);
  }
  std::ranges::reverse(generators);
  return true;
}

void PathIndex::AddOwners(const Candidate& candidate, Query& query) const {
  const auto add = [&](std::string_view suffix, bool is_certain) {
    PathOwner owner{.path = candidate.paths.stem + std::string(suffix),
                    .package = candidate.package,
                    .suffix = std::string(suffix),
                    .generators = candidate.generators,
                    .is_certain = is_certain && candidate.generators.empty(),
                    .error = candidate.paths.error};
    if (!owner.generators.empty())
      owner.generated_name = owner.package.substr(owner.generators.back().size() + 1);
    if (owner.error.empty()) owner.error = FaultOf(owner.path);
    const bool is_asked = std::string_view(query.path).substr(1) == owner.path;
    (is_asked ? query.found.owners : query.found.twins).push_back(std::move(owner));
  };
  if (candidate.outputs == nullptr) return add(candidate.suffix, false);
  if (query.is_of_folder) {
    const bool may_have = candidate.suffix == kGeneratedFolder
                              ? candidate.outputs->may_generate
                              : candidate.outputs->has_more || !candidate.generators.empty();
    if (may_have) add(candidate.suffix, false);
    return;
  }
  const std::string folded = content::FoldName(candidate.suffix);
  const std::vector<std::string>& always = candidate.outputs->always;
  for (const std::string& suffix : always) {
    if (content::FoldName(suffix) == folded) add(suffix, true);
  }
  const bool is_always = std::ranges::find(always, candidate.suffix) != always.end();
  if (!is_always && record::MayHaveOutput(*candidate.outputs, candidate.suffix))
    add(candidate.suffix, false);
}

std::optional<PackagePaths> PathIndex::PathsOf(std::string_view package) const {
  const std::optional<CatalogEntry> file =
      catalog_->Find(package.substr(0, package.find(kGenerated)));
  if (!file) return std::nullopt;
  if (!IsGenerated(package)) return PathsBy(package, *file, catalog_->RecipesByRules(package));
  const RecipesPtr recipes = catalog_->GeneratedRecipesOf(package);
  if (recipes == nullptr) return std::nullopt;
  return PathsBy(package, *file, recipes);
}

// `file`: the entry of the package, or of the file that is its outermost generator. `recipes`:
// nullptr: not known.
PackagePaths PathIndex::PathsBy(std::string_view package, const CatalogEntry& file,
                                const RecipesPtr& recipes) const {
  PackagePaths paths{.stem = StagePath(*catalog_->project(), package)};
  if (const record::OutputNames* const outputs = OutputsOf(recipes)) {
    for (const std::string& suffix : outputs->always) paths.always.push_back(paths.stem + suffix);
    paths.has_more = outputs->has_more;
    paths.may_generate = outputs->may_generate;
  }
  paths.error = ErrorOf(package, file, paths);
  return paths;
}

const record::OutputNames* PathIndex::OutputsOf(const RecipesPtr& recipes) const {
  return recipes == nullptr ? nullptr : &recipes->at(platform_).outputs;
}

// In the order of the core, which asks for never-cook first.
std::string PathIndex::ErrorOf(std::string_view package, const CatalogEntry& file,
                               const PackagePaths& paths) const {
  if (file.never_cook || (IsGenerated(package) && catalog_->IsNever(package)))
    return "is never cooked: [cook] never or --never matches it";
  if (!file.error.empty()) return file.error;
  // A cook by the book refuses the whole package for one such output.
  for (const std::string& path : paths.always) {
    if (std::string fault = FaultOf(path); !fault.empty()) return fault;
  }
  return {};
}

std::string PathIndex::FaultOf(std::string_view path) const {
  const std::string fault = NameFault(path, is_for_windows_);
  return fault.empty() ? fault : fmt::format("its output {} cannot be in a tree: {}", path, fault);
}

}  // namespace galley::director

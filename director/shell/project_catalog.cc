#include "director/shell/project_catalog.h"

#include <algorithm>
#include <filesystem>

#include "common/base/status_macros.h"
#include "common/content/lfs_pointer.h"
#include "common/content/name.h"
#include "common/content/sandboxes.h"
#include "common/record/programs.h"
#include "director/shell/changed_platforms.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

// Says whether the cooker takes any bytes. Other cookers refuse a pointer themselves.
bool TakesAnyBytes(const project::ResolvedRecipe& recipe) {
  return recipe.recipe.cooker == "copy" || recipe.recipe.cooker == record::kProgramCooker;
}

// Says why the source is refused: Git LFS has its contents elsewhere. "": it is not refused. A file
// that cannot be read is left to the job.
std::string RefusalOfPointer(const content::FileEntry& file,
                             const project::ResolvedRecipes& recipes) {
  const uint64_t size_bytes = file.stat.size_bytes;
  if (size_bytes < content::kLfsPointerBytesMin || size_bytes > content::kLfsPointerBytesMax)
    return "";
  const bool is_refused = std::ranges::any_of(recipes, [](const project::ResolvedRecipe& recipe) {
    return TakesAnyBytes(recipe) && !recipe.needs.keeps_lfs_pointers;
  });
  if (!is_refused) return "";
  const auto bytes = ReadFile(file.host_path, content::kLfsPointerBytesMax);
  if (!bytes.ok() || !content::IsLfsPointerFile(*bytes)) return "";
  return "the source is a Git LFS pointer, not the file: run `git lfs pull`, or say `lfs = "
         "\"keep\"` in its rule or sidecar if the pointer itself is the content";
}

CatalogEntry AnswerOf(const ResolvedPackage& package) {
  CatalogEntry answer{.error = package.error, .never_cook = package.never_cook};
  if (!package.error.empty() || package.recipes == nullptr || package.recipes->empty())
    return answer;
  const project::ResolvedRecipes& recipes = *package.recipes;
  answer.resources = recipes.front().needs.resources;
  answer.labels = recipes.front().needs.labels;
  answer.cooker = recipes.front().recipe.cooker;
  if (answer.cooker == record::kProgramCooker) answer.programs = recipes.front().digest.ToString();
  // The highest limit in the rules of any platform: the platforms of a job are not known here.
  for (const project::ResolvedRecipe& recipe : recipes)
    answer.memory_bytes = std::max(answer.memory_bytes, recipe.needs.memory_bytes);
  return answer;
}

// True: the two packages differ at most in the bytes of the source. Compares the recipes of the
// platforms that PlatformMapping found in both project files.
bool IsAlike(const ResolvedPackage& now, const ResolvedPackage& before,
             const std::vector<std::optional<PlatformIndex>>& mapping) {
  if (now.error != before.error || now.never_cook != before.never_cook) return false;
  for (PlatformIndex p = 0; now.error.empty() && p < mapping.size(); ++p) {
    if (!mapping[p].has_value()) continue;
    const project::ResolvedRecipe& was = (*before.recipes)[p];
    const project::ResolvedRecipe& is = (*now.recipes)[*mapping[p]];
    if (was.digest != is.digest || was.needs != is.needs) return false;
  }
  return true;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const ProjectCatalog>> ProjectCatalog::Build(
    SnapshotPtr snapshot, std::shared_ptr<const project::Project> project,
    std::shared_ptr<const project::RecipeResolver> resolver, unsigned threads) {
  std::shared_ptr<ProjectCatalog> table(new ProjectCatalog());
  table->snapshot_ = std::move(snapshot);
  table->project_ = std::move(project);
  table->resolver_ = std::move(resolver);
  table->threads_ = threads;
  RETURN_IF_ERROR(table->ReadNever());
  table->MakePackages();
  (void)table->packages_->TakeAll();
  return std::shared_ptr<const ProjectCatalog>(std::move(table));
}

absl::StatusOr<std::shared_ptr<const ProjectCatalog>> ProjectCatalog::ByNeed(
    SnapshotPtr snapshot, std::shared_ptr<const project::Project> project,
    std::shared_ptr<const project::RecipeResolver> resolver, const ProjectCatalog* before,
    const std::vector<std::string>& changed) {
  std::shared_ptr<ProjectCatalog> table(new ProjectCatalog());
  table->snapshot_ = std::move(snapshot);
  table->project_ = std::move(project);
  table->resolver_ = std::move(resolver);
  if (before != nullptr) table->threads_ = before->threads_;
  RETURN_IF_ERROR(table->ReadNever());
  table->MakePackages();
  if (before != nullptr && before->project_ == table->project_ &&
      before->resolver_ == table->resolver_)
    table->packages_->TakeOver(*before->packages_, changed);
  return std::shared_ptr<const ProjectCatalog>(std::move(table));
}

void ProjectCatalog::MakePackages() {
  packages_ = std::make_unique<ResolvedPackages>(
      *snapshot_,
      [this](const content::FileEntry& file, const content::FileEntry* sidecar) {
        return ResolveOne(file, sidecar);
      },
      threads_);
}

absl::Status ProjectCatalog::ReadNever() {
  for (const project::Pattern& pattern : project_->cook.never) {
    ASSIGN_OR_RETURN(content::Glob glob, content::Glob::Parse(pattern.text));
    never_.push_back({std::move(glob), pattern});
  }
  return absl::OkStatus();
}

bool ProjectCatalog::IsFileMatchedBy(const content::Glob& glob) const {
  const content::FileList files = snapshot_->files();
  return std::ranges::any_of(
      files, [&](const content::FileEntry& file) { return glob.Matches(file.path); });
}

bool ProjectCatalog::IsGeneratedMatchedBy(const content::Glob& glob) const {
  return std::ranges::any_of(generated_, [&](const auto& one) { return glob.Matches(one.first); });
}

bool ProjectCatalog::IsMatchedBy(const content::Glob& glob) const {
  if (IsFileMatchedBy(glob)) return true;
  const base::MutexLock lock(mutex_);
  return IsGeneratedMatchedBy(glob);
}

std::vector<project::Pattern> ProjectCatalog::UnmatchedNeverPatterns() const {
  const base::MutexLock lock(mutex_);
  if (!idle_never_) {
    idle_never_.emplace();
    for (const Never& never : never_) {
      if (!IsFileMatchedBy(never.glob)) idle_never_->push_back(&never);
    }
  }
  std::vector<project::Pattern> patterns;
  for (const Never* never : *idle_never_) {
    if (!IsGeneratedMatchedBy(never->glob)) patterns.push_back(never->pattern);
  }
  return patterns;
}

ResolvedFile ProjectCatalog::ResolveOne(const content::FileEntry& file,
                                        const content::FileEntry* sidecar_file) const {
  ResolvedFile resolved;
  std::optional<project::Sidecar> sidecar;
  if (sidecar_file != nullptr) {
    auto content = snapshot_->Read(sidecar_file->path, 1 << 20);
    if (!content.ok()) {
      resolved.is_sidecar_unread = true;
      resolved.package = {.error = fmt::format("its sidecar {} cannot be read: {}",
                                               sidecar_file->path, MessageOf(content.status()))};
      return resolved;
    }
    // The path as people write it: relative to the project if the file lies there, else absolute.
    const std::string below = project_->root + "/";
    const std::string& host = sidecar_file->host_path;
    sidecar = {.text = *content->bytes,
               .file = host.starts_with(below) ? host.substr(below.size()) : host};
  }
  auto recipes = resolver_->Resolve(file.path, sidecar, &resolved.errors);
  if (!recipes.ok()) {
    resolved.package = {.error = MessageOf(recipes.status())};
  } else if (*recipes != nullptr) {
    resolved.package = {.recipes = std::move(*recipes),
                        .error = file.error,
                        .never_cook = file.error.empty() && IsNever(file.path)};
  }
  return resolved;
}

bool ProjectCatalog::IsNever(std::string_view name) const {
  return std::ranges::any_of(never_, [&](const Never& never) { return never.glob.Matches(name); });
}

std::vector<std::string> ProjectCatalog::VariantsOf(std::string_view name,
                                                    const Cultures& cultures) const {
  std::vector<std::string> variants;
  const std::vector<std::string>& asked = cultures ? *cultures : project_->cook.cultures;
  if (asked.empty() || packages_->Find(name) == nullptr) return variants;
  for (const std::string& culture : asked) {
    for (const content::Mount& mount : project_->mounts) {
      const std::string prefix = fmt::format("{}/L10N/", mount.path);
      if (!content::IsUnder(name, mount.path) || name.starts_with(prefix)) continue;
      std::string variant = fmt::format("{}{}{}", prefix, culture, name.substr(mount.path.size()));
      if (packages_->Find(variant) != nullptr) variants.push_back(std::move(variant));
    }
  }
  return variants;
}

std::optional<CatalogEntry> ProjectCatalog::Find(std::string_view name) const {
  const ResolvedPackage* const package = packages_->Find(name);
  if (package == nullptr) return std::nullopt;
  // A package that was taken over has the recipes of this one; only the bytes may differ.
  CatalogEntry answer = AnswerOf(*package);
  if (package->error.empty()) {
    if (const content::FileEntry* file = snapshot_->Find(name)) {
      answer.source_bytes = file->stat.size_bytes;
      answer.error = RefusalOfPointer(*file, *package->recipes);
    }
  }
  return answer;
}

std::optional<std::string> ProjectCatalog::NameOfFile(std::string_view file) const {
  const std::string path =
      (std::filesystem::path(project_->root) / std::filesystem::path(file)).lexically_normal();
  for (const content::Mount& mount : snapshot_->mounts()) {
    if (!path.starts_with(mount.directory + "/")) continue;
    const std::string name = mount.path + path.substr(mount.directory.size());
    // Another mount may lie over this mount.
    const content::FileEntry* entry = snapshot_->Find(name);
    if (entry != nullptr && entry->host_path == path && packages_->Find(name) != nullptr)
      return name;
  }
  return std::nullopt;
}

CatalogEntry ProjectCatalog::Generated(std::string_view name, std::string_view cooker,
                                       std::string_view settings) const {
  base::MutexLock lock(mutex_);
  GeneratedEntry& remembered = generated_[std::string(name)];
  if (remembered.package.recipes == nullptr || remembered.cooker != cooker ||
      remembered.settings != settings) {
    remembered.cooker = cooker;
    remembered.settings = settings;
    remembered.package = ResolvedPackage{};
    auto recipes = resolver_->ResolveGenerated(name, cooker, settings);
    if (!recipes.ok()) {
      remembered.package.error = MessageOf(recipes.status());
    } else if (*recipes == nullptr) {
      remembered.package.error =
          fmt::format("no rule in galley.toml names a cooker for the generated package {}", name);
    } else {
      remembered.package.recipes = std::move(*recipes);
    }
    remembered.package.never_cook = IsNever(name);
  }
  return AnswerOf(remembered.package);
}

RecipesPtr ProjectCatalog::RecipesOf(std::string_view name) const {
  const ResolvedPackage* const package = packages_->Find(name);
  return package == nullptr || !package->error.empty() ? nullptr : package->recipes;
}

RecipesPtr ProjectCatalog::RecipesByRules(std::string_view name) const {
  const ResolvedPackage* const package = packages_->Find(name);
  return package == nullptr ? nullptr : package->recipes;
}

RecipesPtr ProjectCatalog::GeneratedRecipesOf(std::string_view name) const {
  base::MutexLock lock(mutex_);
  const auto found = generated_.find(std::string(name));
  return found == generated_.end() ? nullptr : found->second.package.recipes;
}

record::WarningRules ProjectCatalog::WarningRulesOf(std::string_view name) const {
  RecipesPtr recipes = name.empty() ? nullptr : RecipesOf(name);
  if (recipes == nullptr && name.find("/_gen/") != std::string_view::npos)
    recipes = GeneratedRecipesOf(name);
  return recipes == nullptr || recipes->empty() ? project_->warnings
                                                : recipes->front().needs.warnings;
}

std::vector<std::string> ProjectCatalog::GeneratedNames() const {
  std::vector<std::string> names;
  {
    base::MutexLock lock(mutex_);
    names.reserve(generated_.size());
    for (const auto& [name, generated] : generated_) names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

std::vector<std::string> ProjectCatalog::DifferentFrom(const ProjectCatalog& before) const {
  // A rule may match generated packages as well, which are not resolved yet.
  std::vector<std::string> different = before.GeneratedNames();
  const auto mapping = PlatformMapping(before.project_->platforms, project_->platforms);
  const ResolvedPackages::All& now = packages_->TakeAll();
  const ResolvedPackages::All& was = before.packages_->TakeAll();
  size_t i = 0, j = 0;
  while (i < now.names.size() || j < was.names.size()) {
    const int order = i == now.names.size()   ? 1
                      : j == was.names.size() ? -1
                                              : now.names[i].compare(was.names[j]);
    if (order != 0) {
      different.push_back(order < 0 ? now.names[i] : was.names[j]);
    } else if (!IsAlike(now.packages[i], was.packages[j], mapping)) {
      different.push_back(now.names[i]);
    }
    i += order <= 0;
    j += order >= 0;
  }
  std::ranges::sort(different);
  return different;
}

ReferenceTarget ProjectCatalog::Resolve(std::string_view from, std::string_view as_written) const {
  ReferenceTarget target;
  const auto asked = content::NormalizeAsked(as_written);
  if (!asked.ok()) {
    target.error = MessageOf(asked.status());
    return target;
  }
  auto name = content::ResolveAsked(from, *asked);
  if (!name.ok()) {
    target.error = MessageOf(name.status());
    return target;
  }
  target.name = std::move(*name);
  const bool in_a_mount = std::ranges::any_of(project_->mounts, [&](const content::Mount& mount) {
    return content::IsUnder(target.name, mount.path);
  });
  if (!in_a_mount) {
    target.error = "the path leaves the mounts";
    return target;
  }
  if (packages_->Find(target.name) != nullptr) return target;
  if (const size_t mark = target.name.find("/_gen/");
      mark != std::string::npos &&
      packages_->Find(std::string_view(target.name).substr(0, mark)) != nullptr) {
    return target;
  }
  switch (snapshot_->Kind(target.name)) {
    case content::EntryKind::kFile:
      target.error = "there is such a file, but no rule or sidecar makes it a package";
      return target;
    case content::EntryKind::kFolder:
      target.error = "this is a folder; a reference names a package";
      return target;
    case content::EntryKind::kAbsent:
      break;
  }
  if (const content::FileEntry* near = snapshot_->FindFolded(target.name); near != nullptr) {
    if (project_->fix_case && packages_->Find(near->path) != nullptr) {
      target.warning = fmt::format(
          "refers to '{}', and the file is named {}: it is taken, since [project] "
          "fix_case = true; write the reference as the file is named",
          as_written, near->path);
      target.name = near->path;
    } else {
      target.error = fmt::format(
          "there is no such file; its name in other spelling is {} (case and Unicode form count): "
          "write the reference as the file is named, or set [project] fix_case = true",
          near->path);
    }
    return target;
  }
  const std::string sandbox = content::SandboxAround(*snapshot_, target.name);
  target.error = sandbox.empty()
                     ? "there is no such file"
                     : fmt::format("it is in the sandbox {}, which is not content", sandbox);
  return target;
}

}  // namespace galley::director

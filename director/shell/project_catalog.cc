#include "director/shell/project_catalog.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <iterator>
#include <thread>

#include "absl/container/flat_hash_set.h"
#include "common/base/status_macros.h"
#include "common/base/threads.h"
#include "common/content/lfs_pointer.h"
#include "common/content/name.h"
#include "common/content/sandboxes.h"
#include "common/record/programs.h"
#include "director/shell/changed_platforms.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

using project::IsSidecar;
using project::kSidecarSuffix;

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

}  // namespace

absl::StatusOr<std::shared_ptr<const ProjectCatalog>> ProjectCatalog::Build(
    SnapshotPtr snapshot, std::shared_ptr<const project::Project> project,
    std::shared_ptr<const project::RecipeResolver> resolver, const Options& options) {
  ASSIGN_OR_RETURN(std::shared_ptr<const ProjectCatalog> table,
                   ByNeed(std::move(snapshot), std::move(project), std::move(resolver), options,
                          /*before=*/nullptr, /*changed=*/{}));
  table->TakeAll();
  return table;
}

absl::StatusOr<std::shared_ptr<const ProjectCatalog>> ProjectCatalog::ByNeed(
    SnapshotPtr snapshot, std::shared_ptr<const project::Project> project,
    std::shared_ptr<const project::RecipeResolver> resolver, const Options& options,
    const ProjectCatalog* before, const std::vector<std::string>& changed) {
  std::shared_ptr<ProjectCatalog> table(new ProjectCatalog());
  table->snapshot_ = std::move(snapshot);
  table->project_ = std::move(project);
  table->resolver_ = std::move(resolver);
  table->cultures_ = options.cultures;
  table->options_ = options;
  RETURN_IF_ERROR(table->ReadNever(options.never));
  const bool is_alike =
      before != nullptr && before->project_ == table->project_ &&
      before->resolver_ == table->resolver_ && before->options_ == options &&
      table->snapshot_->IsRevisionOf(*before->snapshot_) &&
      std::ranges::none_of(changed, [](const std::string& path) { return IsSidecar(path); });
  if (is_alike) {
    std::shared_ptr<const All> all;
    {
      const base::MutexLock lock(before->all_mutex_);
      all = before->all_;
    }
    const base::MutexLock lock(table->all_mutex_);
    table->has_unread_sidecars_ = before->has_unread_sidecars_.load();
    table->known_all_ = all.get();
    table->all_ = std::move(all);
  }
  return std::shared_ptr<const ProjectCatalog>(std::move(table));
}

const ProjectCatalog::All& ProjectCatalog::TakeAll() const {
  if (const All* const known = known_all_.load(std::memory_order_acquire)) return *known;
  const base::MutexLock lock(all_mutex_);
  if (all_ == nullptr) {
    all_ = ResolveAll();
    known_all_.store(all_.get(), std::memory_order_release);
  }
  return *all_;
}

std::shared_ptr<const ProjectCatalog::All> ProjectCatalog::ResolveAll() const {
  const content::FileList files = snapshot_->files();
  std::vector<Entry> entries(files.size());
  std::vector<char> is_package(files.size(), 0);
  std::vector<std::vector<std::string>> errors(files.size());
  constexpr size_t kChunk = 512;
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t begin = next.fetch_add(kChunk); begin < files.size();
         begin = next.fetch_add(kChunk)) {
      const size_t end = std::min(files.size(), begin + kChunk);
      for (size_t i = begin; i < end; ++i) {
        if (IsSidecar(files[i].path)) continue;
        const content::FileEntry* sidecar =
            snapshot_->Find(files[i].path + std::string(kSidecarSuffix));
        bool yes = false;
        entries[i] = ResolveOne(files[i], sidecar, yes, errors[i]);
        is_package[i] = yes ? 1 : 0;
      }
    }
  };
  unsigned threads =
      options_.threads != 0 ? options_.threads : std::max(1u, std::thread::hardware_concurrency());
  threads = static_cast<unsigned>(std::min<size_t>(threads, files.size() / (4 * kChunk) + 1));
  RunOnThreads(threads, [&](size_t) { work(); });

  auto all = std::make_shared<All>();
  absl::flat_hash_set<std::string> told;
  for (size_t i = 0; i < files.size(); ++i) {
    for (std::string& error : errors[i]) {
      if (told.insert(error).second) all->recipe_errors.push_back(std::move(error));
    }
    if (is_package[i] == 0) continue;
    all->names.push_back(files[i].path);
    all->entries.push_back(std::move(entries[i]));
  }
  return all;
}

absl::Status ProjectCatalog::ReadNever(const std::vector<std::string>& of_command_line) {
  std::vector<project::Pattern> patterns = project_->cook.never;
  for (const std::string& pattern : of_command_line) patterns.emplace_back(pattern, "--never");
  for (project::Pattern& pattern : patterns) {
    ASSIGN_OR_RETURN(content::Glob glob, content::Glob::Parse(pattern.text));
    never_.push_back({std::move(glob), std::move(pattern)});
  }
  return absl::OkStatus();
}

std::vector<project::Pattern> ProjectCatalog::UnmatchedNeverPatterns() const {
  const base::MutexLock lock(mutex_);
  if (!idle_never_) {
    idle_never_.emplace();
    const content::FileList files = snapshot_->files();
    for (const Never& never : never_) {
      if (std::ranges::none_of(
              files, [&](const content::FileEntry& file) { return never.glob.Matches(file.path); }))
        idle_never_->push_back(&never);
    }
  }
  std::vector<project::Pattern> patterns;
  for (const Never* never : *idle_never_) {
    if (std::ranges::none_of(generated_,
                             [&](const auto& one) { return never->glob.Matches(one.first); }))
      patterns.push_back(never->pattern);
  }
  return patterns;
}

ProjectCatalog::Entry ProjectCatalog::ResolveOne(const content::FileEntry& file,
                                                 const content::FileEntry* sidecar_file,
                                                 bool& is_package,
                                                 std::vector<std::string>& errors) const {
  Entry entry;
  std::optional<project::Sidecar> sidecar;
  if (sidecar_file != nullptr) {
    is_package = true;
    auto content = snapshot_->Read(sidecar_file->path, 1 << 20);
    if (!content.ok()) {
      has_unread_sidecars_ = true;
      entry.error = fmt::format("its sidecar {} cannot be read: {}", sidecar_file->path,
                                MessageOf(content.status()));
      return entry;
    }
    // The path as people write it: relative to the project if the file lies there, else absolute.
    const std::string below = project_->root + "/";
    const std::string& host = sidecar_file->host_path;
    sidecar = {.text = *content->bytes,
               .file = host.starts_with(below) ? host.substr(below.size()) : host};
  }
  auto recipes = resolver_->Resolve(file.path, sidecar, &errors);
  if (!recipes.ok()) {
    is_package = true;
    entry.error = MessageOf(recipes.status());
    return entry;
  }
  if (*recipes == nullptr) return entry;
  is_package = true;
  if (!file.error.empty()) {
    entry.error = file.error;
    return entry;
  }
  entry.recipes = std::move(*recipes);
  entry.never = IsNever(file.path);
  return entry;
}

bool ProjectCatalog::IsNever(std::string_view name) const {
  return std::ranges::any_of(never_, [&](const Never& never) { return never.glob.Matches(name); });
}

const ProjectCatalog::Entry* ProjectCatalog::EntryOf(std::string_view name) const {
  const All* const all = known_all_.load(std::memory_order_acquire);
  if (all == nullptr) return ResolveNow(name);
  const auto found = std::lower_bound(all->names.begin(), all->names.end(), name);
  if (found == all->names.end() || *found != name) return nullptr;
  return &all->entries[static_cast<size_t>(found - all->names.begin())];
}

const ProjectCatalog::Entry* ProjectCatalog::ResolveNow(std::string_view name) const {
  {
    const base::MutexLock lock(mutex_);
    const auto found = resolved_.find(absl::string_view(name.data(), name.size()));
    if (found != resolved_.end()) return found->second.get();
  }
  const content::FileEntry* const file = snapshot_->Find(name);
  if (file == nullptr || IsSidecar(name)) return nullptr;
  bool is_package = false;
  std::vector<std::string> errors;  // errors are told when somebody asks for all packages
  auto entry = std::make_unique<const Entry>(ResolveOne(
      *file, snapshot_->Find(fmt::format("{}{}", name, kSidecarSuffix)), is_package, errors));
  if (!is_package) entry.reset();
  const base::MutexLock lock(mutex_);
  return resolved_.try_emplace(std::string(name), std::move(entry)).first->second.get();
}

std::vector<std::string> ProjectCatalog::LocalisedOf(std::string_view name) const {
  std::vector<std::string> localised;
  for (const std::string& culture : cultures_) {
    // Maps "/Game/ui/logo.png" to "/Game/L10N/de/ui/logo.png", under the mount's own virtual path.
    for (const content::Mount& mount : project_->mounts) {
      const std::string prefix = fmt::format("{}/L10N/", mount.path);
      if (!content::IsUnder(name, mount.path) || name.starts_with(prefix)) continue;
      std::string variant = fmt::format("{}{}{}", prefix, culture, name.substr(mount.path.size()));
      if (EntryOf(variant) != nullptr) localised.push_back(std::move(variant));
    }
  }
  return localised;
}

CatalogEntry ProjectCatalog::AnswerOf(const Entry& entry) {
  CatalogEntry answer{.error = entry.error, .never_cook = entry.never};
  if (entry.recipes == nullptr || entry.recipes->empty()) return answer;
  answer.resources = entry.recipes->front().needs.resources;
  answer.labels = entry.recipes->front().needs.labels;
  answer.cooker = entry.recipes->front().recipe.cooker;
  if (answer.cooker == record::kProgramCooker)
    answer.programs = entry.recipes->front().digest.ToString();
  // The highest limit in the rules of any platform: the platforms of a job are not known here.
  for (const project::ResolvedRecipe& recipe : *entry.recipes)
    answer.memory_bytes = std::max(answer.memory_bytes, recipe.needs.memory_bytes);
  return answer;
}

std::optional<CatalogEntry> ProjectCatalog::Find(std::string_view name) const {
  const Entry* entry = EntryOf(name);
  if (entry == nullptr) return std::nullopt;
  // A borrowed table has the recipes of these files as well; only the bytes may differ.
  CatalogEntry answer = AnswerOf(*entry);
  if (entry->recipes != nullptr) {
    if (const content::FileEntry* file = snapshot_->Find(name)) {
      answer.source_bytes = file->stat.size_bytes;
      answer.error = RefusalOfPointer(*file, *entry->recipes);
    }
  }
  if (!cultures_.empty()) answer.localised = LocalisedOf(name);
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
    if (entry != nullptr && entry->host_path == path && EntryOf(name) != nullptr) return name;
  }
  return std::nullopt;
}

CatalogEntry ProjectCatalog::Generated(std::string_view name, std::string_view cooker,
                                       std::string_view settings) const {
  base::MutexLock lock(mutex_);
  GeneratedEntry& remembered = generated_[std::string(name)];
  if (remembered.entry.recipes == nullptr || remembered.cooker != cooker ||
      remembered.settings != settings) {
    remembered.cooker = cooker;
    remembered.settings = settings;
    remembered.entry = Entry{};
    auto recipes = resolver_->ResolveGenerated(name, cooker, settings);
    if (!recipes.ok()) {
      remembered.entry.error = MessageOf(recipes.status());
    } else if (*recipes == nullptr) {
      remembered.entry.error =
          fmt::format("no rule in galley.toml names a cooker for the generated package {}", name);
    } else {
      remembered.entry.recipes = std::move(*recipes);
    }
    remembered.entry.never = IsNever(name);
  }
  return AnswerOf(remembered.entry);
}

RecipesPtr ProjectCatalog::RecipesOf(std::string_view name) const {
  const Entry* entry = EntryOf(name);
  return entry == nullptr ? nullptr : entry->recipes;
}

RecipesPtr ProjectCatalog::GeneratedRecipesOf(std::string_view name) const {
  base::MutexLock lock(mutex_);
  const auto found = generated_.find(std::string(name));
  return found == generated_.end() ? nullptr : found->second.entry.recipes;
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

bool ProjectCatalog::Entry::IsAlike(
    const Entry& before, const std::vector<std::optional<PlatformIndex>>& mapping) const {
  if (error != before.error || never != before.never ||
      (recipes == nullptr) != (before.recipes == nullptr))
    return false;
  for (PlatformIndex p = 0; recipes != nullptr && p < mapping.size(); ++p) {
    if (!mapping[p].has_value()) continue;
    const project::ResolvedRecipe& was = (*before.recipes)[p];
    const project::ResolvedRecipe& is = (*recipes)[*mapping[p]];
    if (was.digest != is.digest || was.needs != is.needs) return false;
  }
  return true;
}

std::vector<std::string> ProjectCatalog::DifferentFrom(const ProjectCatalog& before) const {
  // A rule may match generated packages as well, which are not resolved yet.
  std::vector<std::string> different = before.GeneratedNames();
  const auto mapping = PlatformMapping(before.project_->platforms, project_->platforms);
  const All& now = TakeAll();
  const All& was = before.TakeAll();
  size_t i = 0, j = 0;
  while (i < now.names.size() || j < was.names.size()) {
    const int order = i == now.names.size()   ? 1
                      : j == was.names.size() ? -1
                                              : now.names[i].compare(was.names[j]);
    if (order != 0) {
      different.push_back(order < 0 ? now.names[i] : was.names[j]);
    } else if (!now.entries[i].IsAlike(was.entries[j], mapping)) {
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
  if (EntryOf(target.name) != nullptr) return target;
  if (const size_t mark = target.name.find("/_gen/");
      mark != std::string::npos &&
      EntryOf(std::string_view(target.name).substr(0, mark)) != nullptr) {
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
    if (project_->fix_case && EntryOf(near->path) != nullptr) {
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

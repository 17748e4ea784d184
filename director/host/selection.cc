#include "director/host/selection.h"

#include <algorithm>
#include <span>
#include <tuple>

#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/sort_unique.h"
#include "common/base/status_macros.h"
#include "common/content/name.h"
#include "common/content/sandboxes.h"
#include "director/host/error_list.h"
#include "director/host/near_names.h"
#include "director/host/virtual_path.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

constexpr std::string_view kGenerated = "/_gen/";

bool IsGlob(std::string_view text) { return text.find_first_of("*?[{") != std::string_view::npos; }

// Returns all folders that hold packages, sorted.
std::vector<std::string> FoldersOf(const std::vector<std::string>& names) {
  std::vector<std::string> folders;
  std::string_view before;
  for (const std::string& name : names) {
    for (std::string_view folder = content::FolderOf(name); folder.size() > 1;
         folder = content::FolderOf(folder)) {
      if (content::IsUnder(before, folder)) break;  // an earlier package has the same folder
      folders.emplace_back(folder);
    }
    before = name;
  }
  SortUnique(folders);
  return folders;
}

// Finder: finds the packages that patterns and names stand for. An error has the whole text except
// for who gave the pattern.
class Finder {
 public:
  Finder(const project::Project& project, const ProjectCatalog& table, const CookFilter* filter)
      : project_(project), table_(table), filter_(filter) {}

  // Returns the packages that a pattern over virtual paths matches.
  absl::StatusOr<std::vector<std::string>> Matches(std::string_view pattern) const {
    ASSIGN_OR_RETURN(std::vector<std::string> found, MatchesOrNone(pattern));
    if (found.empty()) return NothingMatches(pattern);
    return found;
  }

  // Returns a package, or the packages of a glob.
  absl::StatusOr<std::vector<std::string>> Packages(const std::string& argument) const {
    if (IsGlob(argument)) {
      const auto found = MatchesOrNone(argument);
      if (found.ok() && !found->empty()) return found;
    }
    ASSIGN_OR_RETURN(const std::string name, ToVirtual(project_, argument));
    if (table_.Find(name) || IsOfAGenerator(name)) return std::vector<std::string>{name};
    if (IsGlob(name)) return Matches(name);
    return NoSuchPackage(argument, name);
  }

  // Returns all packages below a folder.
  absl::StatusOr<std::vector<std::string>> Folder(const std::string& argument) const {
    ASSIGN_OR_RETURN(const std::string folder, ToVirtual(project_, argument));
    return FolderNamed(folder);
  }

  absl::StatusOr<std::vector<std::string>> FolderNamed(const std::string& folder) const {
    std::vector<std::string> found = Below(folder);
    if (!found.empty()) return found;
    if (IsGlob(folder)) {
      return InvalidArgumentError(
          "no package is under {}: a folder is named without wildcards; name packages, as in {}",
          folder, folder + "/**");
    }
    return InvalidArgumentError("no package is under {}{}", folder,
                                Near(folder, FoldersOf(table_.names())));
  }

  absl::StatusOr<std::vector<std::string>> PackagesOrFolder(const std::string& argument) const {
    return IsFolder(argument) ? Folder(argument) : Packages(argument);
  }

  // A glob names packages as a folder does: packages that are never cooked are left out.
  InstigatorCategory CategoryOf(const std::string& argument) const {
    const auto name = ToVirtual(project_, argument);
    const bool is_one = name.ok() && !IsFolder(argument) && (!IsGlob(*name) || table_.Find(*name));
    return is_one ? InstigatorCategory::kCommandLinePackage
                  : InstigatorCategory::kCommandLineDirectory;
  }

  bool IsFolder(const std::string& argument) const {
    const auto name = ToVirtual(project_, argument);
    return name.ok() && table_.snapshot().Kind(*name) == content::EntryKind::kFolder;
  }

  std::vector<std::string> Below(std::string_view folder) const {
    const std::string prefix = folder == "/" ? "/" : fmt::format("{}/", folder);
    const auto begin = std::lower_bound(table_.names().begin(), table_.names().end(), prefix);
    const auto end = std::find_if_not(begin, table_.names().end(),
                                      [&](const auto& name) { return name.starts_with(prefix); });
    return {begin, end};
  }

  bool IsNever(const std::string& name) const {
    const auto entry = table_.Find(name);
    return entry && (entry->never_cook || (filter_ != nullptr && filter_->IsNever(name)));
  }

 private:
  absl::StatusOr<std::vector<std::string>> MatchesOrNone(std::string_view pattern) const {
    ASSIGN_OR_RETURN(const content::Glob glob, content::Glob::Parse(pattern));
    std::vector<std::string> found;
    if (!IsGlob(pattern)) {  // lists of thousands of maps name each map
      if (table_.Find(pattern)) found.emplace_back(pattern);
    } else {
      found = Below(glob.LiteralFolder());
      std::erase_if(found, [&](const std::string& name) { return !glob.Matches(name); });
    }
    if (found.empty() && IsOfAGenerator(pattern)) found.emplace_back(pattern);
    return found;
  }

  // Says whether the name is a package that the cook of another package may generate.
  bool IsOfAGenerator(std::string_view name) const {
    const size_t mark = name.find(kGenerated);
    return mark != std::string_view::npos && !IsGlob(name) &&
           table_.Find(name.substr(0, mark)).has_value();
  }

  absl::Status NothingMatches(std::string_view pattern) const {
    if (!IsGlob(pattern)) return NoSuchPackage(pattern, std::string(pattern));
    std::string text = fmt::format("nothing matches \"{}\"", pattern);
    if (pattern.find(kGenerated) != std::string_view::npos) {
      return absl::InvalidArgumentError(
          text +
          ": generated packages are known only once their generator was loaded; name the "
          "generator, or each of them without wildcards");
    }
    const absl::StatusOr<content::Glob> glob = content::Glob::Parse(pattern);
    const auto files = table_.snapshot().files();
    const auto is_file = [&](const content::FileEntry& file) { return glob->Matches(file.path); };
    if (const auto file = std::ranges::find_if(files, is_file); file != files.end()) {
      return InvalidArgumentError("{}: it matches {}, but no rule or sidecar makes that a package",
                                  text, file->path);
    }
    return absl::InvalidArgumentError(text + Near(pattern, table_.names()));
  }

  // Returns near names for the first errors only, as long as the comparisons last: each takes some
  // microseconds, and a person reads no more than kErrorsToldMax errors.
  std::string Near(std::string_view name, std::span<const std::string> names) const {
    if (names.size() > comparisons_left_) return "";
    const std::string text = NearText(NearNames(name, names, comparisons_left_));
    comparisons_left_ -= names.size();
    return text;
  }

  absl::Status NoSuchPackage(std::string_view argument, const std::string& name) const {
    if (const size_t mark = name.find(kGenerated); mark != std::string::npos) {
      const std::string generator = name.substr(0, mark);
      return InvalidArgumentError("{} is no package: there is no {} that could generate it{}",
                                  argument, generator, Near(generator, table_.names()));
    }
    const ReferenceTarget target = table_.Resolve("/", name);
    std::string why = target.error.empty() ? "there is no such file" : target.error;
    if (table_.snapshot().Kind(name) == content::EntryKind::kAbsent &&
        content::SandboxAround(table_.snapshot(), name).empty() &&
        table_.snapshot().FindFolded(name) == nullptr)
      why += Near(name, table_.names());
    return InvalidArgumentError("{} is no package: {}", argument, why);
  }

  mutable size_t comparisons_left_ = kComparisonsMax;
  const project::Project& project_;
  const ProjectCatalog& table_;
  const CookFilter* const filter_;  // null: the cook leaves nothing out
};

class Selector {
 public:
  using Found = absl::StatusOr<std::vector<std::string>>;

  Selector(const project::Project& project, const ProjectCatalog& table, const CookFilter* filter)
      : finder(project, table, filter) {}

  // `from`: who gave the pattern: "galley.toml:41: [cook] maps", "--map".
  void Add(std::string_view from, std::string_view pattern, Found found,
           InstigatorCategory category) {
    const std::string who = from.empty() ? "" : fmt::format("{}: ", from);
    if (!found.ok()) {
      errors_.push_back(who + MessageOf(found.status()));
      return;
    }
    const bool is_all_never =
        std::ranges::all_of(*found, [&](const std::string& name) { return finder.IsNever(name); });
    // A package that is named itself and is never cooked fails.
    if (is_all_never && category != InstigatorCategory::kCommandLinePackage)
      selection_.warnings.push_back(fmt::format(
          "{}all that {} names is never cooked ([cook] never or --never)", who, pattern));
    for (std::string& name : *found) {
      has_work_ |= !is_all_never;
      selection_.packages.push_back({std::move(name), category});
    }
  }
  void AddPattern(std::string_view key, const project::Pattern& pattern, Found found,
                  InstigatorCategory category) {
    Add(pattern.place.empty() ? std::string(key) : fmt::format("{}: {}", pattern.place, key),
        pattern.text, std::move(found), category);
  }
  void AddError(std::string text) { errors_.push_back(std::move(text)); }

  absl::StatusOr<CookSelection> Take() {
    if (!errors_.empty()) return absl::InvalidArgumentError(ErrorList(errors_));
    if (!has_work_) {
      return absl::InvalidArgumentError(
          "nothing is left to cook: [cook] never or --never matches every package that was "
          "selected");
    }
    auto& packages = selection_.packages;
    const auto key = [](const SelectedPackage& one) { return std::tie(one.name, one.category); };
    std::ranges::sort(packages, [&](const auto& a, const auto& b) { return key(a) < key(b); });
    packages.erase(std::unique(packages.begin(), packages.end(),
                               [&](const auto& a, const auto& b) { return key(a) == key(b); }),
                   packages.end());
    return std::move(selection_);
  }

  const Finder finder;

 private:
  CookSelection selection_;
  std::vector<std::string> errors_;
  bool has_work_ = false;  // something in the selection may be cooked
};

void SelectFromCommandLine(const v1::Selection& ask, const project::Project& project,
                           Selector& selector) {
  const Finder& finder = selector.finder;
  for (const std::string& argument : ask.positional())
    selector.Add("", argument, finder.PackagesOrFolder(argument), finder.CategoryOf(argument));
  for (const std::string& package : ask.packages())
    selector.Add("--package", package, finder.Packages(package), finder.CategoryOf(package));
  for (const std::string& map : ask.maps())
    selector.Add("--map", map, finder.Packages(map), InstigatorCategory::kCookMap);
  for (const std::string& folder : ask.directories())
    selector.Add("--dir", folder, finder.Folder(folder), InstigatorCategory::kCommandLineDirectory);
  for (const std::string& section : ask.map_sections()) {
    const auto found = project.map_sections.find(section);
    if (found == project.map_sections.end()) {
      std::vector<std::string> known;
      for (const auto& [name, maps] : project.map_sections) known.push_back(name);
      selector.AddError(fmt::format("--map-section: galley.toml has no [map_section.{}]{}", section,
                                    NearText(NearNames(section, known))));
      continue;
    }
    for (const project::Pattern& map : found->second)
      selector.AddPattern(fmt::format("[map_section.{}] maps", section), map,
                          finder.Matches(map.text), InstigatorCategory::kIniMapSection);
  }
}

void SelectByTheBook(const project::Project& project, Selector& selector) {
  const project::CookSection& cook = project.cook;
  const Finder& finder = selector.finder;
  if (cook.maps.empty() && cook.directories.empty() && cook.always.empty())
    return selector.Add("", "the project", finder.Below("/"),
                        InstigatorCategory::kCommandLineDirectory);
  for (const project::Pattern& map : cook.maps)
    selector.AddPattern("[cook] maps", map, finder.Matches(map.text), InstigatorCategory::kCookMap);
  for (const project::Pattern& folder : cook.directories)
    selector.AddPattern("[cook] directories", folder, finder.FolderNamed(folder.text),
                        InstigatorCategory::kCommandLineDirectory);
}

}  // namespace

absl::StatusOr<CookSelection> Select(const v1::Selection& ask, const project::Project& project,
                                     const ProjectCatalog& table, const CookFilter* filter) {
  Selector selector(project, table, filter);
  if (HasSelection(ask)) {
    SelectFromCommandLine(ask, project, selector);
  } else {
    SelectByTheBook(project, selector);
  }
  for (const project::Pattern& always : project.cook.always)
    selector.AddPattern("[cook] always", always, selector.finder.Matches(always.text),
                        InstigatorCategory::kAlwaysCookMap);
  ASSIGN_OR_RETURN(CookSelection selection, selector.Take());
  selection.by_the_book = IsByTheBook(ask);
  return selection;
}

absl::StatusOr<std::vector<std::string>> PackagesNamedBy(const std::string& pattern,
                                                         const project::Project& project,
                                                         const ProjectCatalog& table) {
  return Finder(project, table, /*filter=*/nullptr).PackagesOrFolder(pattern);
}

}  // namespace galley::director

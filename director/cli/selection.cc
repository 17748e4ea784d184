#include "director/cli/selection.h"

#include <algorithm>

#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/content/name.h"
#include "director/cli/virtual_path.h"
#include "fmt/format.h"

namespace galley::cli {
namespace {

using director::InstigatorCategory;
using director::ProjectCatalog;

class Selector {
 public:
  Selector(const project::Project& project, const ProjectCatalog& table)
      : project_(project), table_(table) {}

  void Add(std::string name, InstigatorCategory category) {
    selection_.packages.push_back({std::move(name), category});
  }

  // Packages that `pattern` (a glob or a plain name) matches; the number of them.
  absl::StatusOr<size_t> AddMatches(std::string_view pattern, InstigatorCategory category) {
    ASSIGN_OR_RETURN(const content::Glob glob, content::Glob::Parse(pattern));
    const std::string folder = glob.LiteralFolder();
    size_t count = 0;
    for (const std::string& name : table_.names()) {
      if (!content::IsUnder(name, folder) || !glob.Matches(name)) continue;
      Add(name, category);
      ++count;
    }
    return count;
  }

  size_t AddFolder(std::string_view folder, InstigatorCategory category) {
    const size_t before = selection_.packages.size();
    const std::string prefix = folder == "/" ? "/" : fmt::format("{}/", folder);
    for (auto name = std::lower_bound(table_.names().begin(), table_.names().end(), prefix);
         name != table_.names().end() && name->starts_with(prefix); ++name) {
      Add(*name, category);
    }
    return selection_.packages.size() - before;
  }

  absl::Status AddPackage(const std::string& argument, InstigatorCategory category) {
    ASSIGN_OR_RETURN(const std::string name, ToVirtual(project_, argument));
    if (name.find("/_gen/") == std::string::npos && !table_.Find(name))
      return NoSuchPackage(argument, name);
    Add(name, category);
    return absl::OkStatus();
  }

  absl::Status AddDirectory(const std::string& argument) {
    ASSIGN_OR_RETURN(const std::string folder, ToVirtual(project_, argument));
    if (AddFolder(folder, InstigatorCategory::kCommandLineDirectory) == 0) {
      return absl::InvalidArgumentError(fmt::format("no package lies under {}", folder));
    }
    return absl::OkStatus();
  }

  absl::Status AddMap(const std::string& argument, InstigatorCategory category) {
    if (argument.find_first_of("*?[{") == std::string::npos) return AddPackage(argument, category);
    ASSIGN_OR_RETURN(const size_t count, AddMatches(argument, category));
    if (count == 0)
      return absl::InvalidArgumentError(fmt::format("no package matches the map {}", argument));
    return absl::OkStatus();
  }

  absl::Status AddPositional(const std::string& argument) {
    ASSIGN_OR_RETURN(const std::string name, ToVirtual(project_, argument));
    if (table_.snapshot().Kind(name) == content::EntryKind::kFolder) return AddDirectory(argument);
    return AddPackage(argument, InstigatorCategory::kCommandLinePackage);
  }

  Selection Take() {
    auto& packages = selection_.packages;
    const auto key = [](const director::SelectedPackage& one) {
      return std::tie(one.name, one.category);
    };
    std::sort(packages.begin(), packages.end(),
              [&](const auto& a, const auto& b) { return key(a) < key(b); });
    packages.erase(std::unique(packages.begin(), packages.end(),
                               [&](const auto& a, const auto& b) { return key(a) == key(b); }),
                   packages.end());
    return std::move(selection_);
  }
  Selection& selection() { return selection_; }

 private:
  absl::Status NoSuchPackage(const std::string& argument, const std::string& name) const {
    const director::ReferenceTarget target = table_.Resolve("/", name);
    return absl::InvalidArgumentError(
        fmt::format("{} is no package: {}", argument,
                    target.error.empty() ? "there is no such file" : target.error));
  }

  const project::Project& project_;
  const ProjectCatalog& table_;
  Selection selection_;
};

absl::Status SelectFromCommandLine(const CookCommandOptions& options,
                                   const project::Project& project, Selector& selector) {
  for (const std::string& argument : options.positional)
    RETURN_IF_ERROR(selector.AddPositional(argument));
  for (const std::string& package : options.packages) {
    RETURN_IF_ERROR(selector.AddPackage(package, InstigatorCategory::kCommandLinePackage));
  }
  for (const std::string& map : options.maps)
    RETURN_IF_ERROR(selector.AddMap(map, InstigatorCategory::kCookMap));
  for (const std::string& folder : options.directories)
    RETURN_IF_ERROR(selector.AddDirectory(folder));
  for (const std::string& section : options.map_sections) {
    const auto found = project.map_sections.find(section);
    if (found == project.map_sections.end()) {
      return absl::InvalidArgumentError(
          fmt::format("galley.toml has no [map_section.{}]", section));
    }
    for (const std::string& map : found->second)
      RETURN_IF_ERROR(selector.AddMap(map, InstigatorCategory::kIniMapSection));
  }
  return absl::OkStatus();
}

absl::Status SelectByTheBook(const project::Project& project, Selector& selector) {
  const project::CookSection& cook = project.cook;
  if (cook.maps.empty() && cook.directories.empty() && cook.always.empty()) {
    selector.AddFolder("/", InstigatorCategory::kCommandLineDirectory);
    return absl::OkStatus();
  }
  for (const std::string& map : cook.maps) {
    ASSIGN_OR_RETURN(const size_t count, selector.AddMatches(map, InstigatorCategory::kCookMap));
    if (count == 0)
      selector.selection().warnings.push_back(fmt::format("[cook] maps: nothing matches {}", map));
  }
  for (const std::string& folder : cook.directories) {
    if (selector.AddFolder(folder, InstigatorCategory::kCommandLineDirectory) == 0) {
      selector.selection().warnings.push_back(
          fmt::format("[cook] directories: no package lies under {}", folder));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Selection> Select(const CookCommandOptions& options, const project::Project& project,
                                 const director::ProjectCatalog& table) {
  Selector selector(project, table);
  // What leaves something out is no cook by the book either.
  selector.selection().by_the_book = !options.has_selection() && options.never.empty() &&
                                     options.cultures.empty() && !options.no_soft_references;
  if (options.has_selection()) {
    RETURN_IF_ERROR(SelectFromCommandLine(options, project, selector));
  } else {
    RETURN_IF_ERROR(SelectByTheBook(project, selector));
  }
  for (const std::string& always : project.cook.always) {
    ASSIGN_OR_RETURN(const size_t count,
                     selector.AddMatches(always, InstigatorCategory::kAlwaysCookMap));
    if (count == 0)
      selector.selection().warnings.push_back(
          fmt::format("[cook] always: nothing matches {}", always));
  }
  return selector.Take();
}

}  // namespace galley::cli

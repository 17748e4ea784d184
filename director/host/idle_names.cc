#include "director/host/idle_names.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>
#include <utility>
#include <variant>

#include "absl/strings/ascii.h"
#include "common/base/file.h"
#include "common/content/expand_braces.h"
#include "common/content/name.h"
#include "common/toml/toml_value.h"
#include "director/host/near_names.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

using record::WarningKind;

// Comparisons with names for these warnings, which every cook repeats: they take a tenth of a
// second.
constexpr size_t kIdleNearMax = 30'000;
constexpr size_t kIdleToldMax = 20;  // of one kind; beyond this only their number is told

// Letters that may differ in a slip of the hand.
constexpr size_t kSlipMax = 2;

bool HasStar(std::string_view text) { return text.find('*') != std::string_view::npos; }
std::string SortedLetters(std::string_view text) {
  std::string letters = absl::AsciiStrToLower({text.data(), text.size()});
  std::ranges::sort(letters);
  return letters;
}

// Says whether the extension of a name may be the one with which a pattern ends: one letter off, or
// two letters exchanged.
bool SharesItsEnd(std::string_view pattern, std::string_view name) {
  const size_t star = pattern.rfind('*');
  if (star == std::string_view::npos || star + 1 == pattern.size()) return true;
  const std::string_view wanted = pattern.substr(pattern.rfind('.') + 1);
  const std::string_view extension = name.substr(name.rfind('.') + 1);
  return EditsUntilMatch(wanted, extension, 1) <= 1 ||
         SortedLetters(wanted) == SortedLetters(extension);
}

bool IsSlip(std::string_view pattern, std::string_view name) {
  const std::string_view last = LastSegment(pattern);
  const bool is_elsewhere =
      !HasStar(last) && EditsUntilMatch(last, LastSegment(name), 0) == 0;  // in another folder
  return is_elsewhere ||
         (EditsUntilMatch(pattern, name, kSlipMax) <= kSlipMax && SharesItsEnd(pattern, name));
}

// Returns the names of `near` that may have been meant. Stars match much, so names that share
// nothing but a folder come out near.
std::vector<std::string> ReallyNear(std::string_view pattern, std::vector<std::string> near) {
  const auto expanded = content::ExpandBraces(pattern);
  std::erase_if(near, [&](const std::string& name) {
    return !expanded.ok() || std::ranges::none_of(*expanded, [&](const std::string& one) {
      return IsSlip(one, name);
    });
  });
  return near;
}

constexpr std::string_view kNoResource = "neither [resources] nor [farm] resources has it";
constexpr std::string_view kNoLabel = "no machine of [farm] labels has it";

bool Contains(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

// Returns the names that a sidecar asks for under `key`, with their lines: ["gpu", "licence=2"] or
// { gpu = 1 }.
std::vector<std::pair<std::string, int>> NamesIn(const TomlValue& sidecar, const std::string& key) {
  std::vector<std::pair<std::string, int>> names;
  if (sidecar.table() == nullptr || !sidecar.table()->contains(key)) return names;
  const TomlValue& value = sidecar.table()->at(key);
  if (value.table() != nullptr) {
    for (const auto& [name, count] : *value.table()) names.emplace_back(name, count.line);
  } else if (value.array() != nullptr) {
    for (const TomlValue& one : *value.array()) {
      const auto* const text = std::get_if<std::string>(&one.data);
      if (text != nullptr) names.emplace_back(text->substr(0, text->find('=')), one.line);
    }
  }
  return names;
}

std::string PlaceOfLine(int line) { return fmt::format("{}:{}", project::kProjectFile, line); }

class IdleFinder {
 public:
  IdleFinder(const project::Project& project, const ProjectCatalog& table,
             const VisitGenerated& generated, const std::vector<std::string>& cultures)
      : project_(project), table_(table), generated_(generated), cultures_(cultures) {
    for (const content::FileEntry& file : table.snapshot().files()) {
      if (!project::IsSidecar(file.path)) files_.push_back(file.path);
    }
  }

  std::vector<record::Warning> Find() {
    FindRules();
    FindMounts();
    FindNeeds();
    FindCultures();
    FindMapSections();
    FindKeysWithoutEffect();
    return std::move(warnings_);
  }

 private:
  void FindRules() {
    std::vector<const project::Rule*> idle;
    for (const project::Rule& rule : project_.rules) {
      if (std::ranges::none_of(files_,
                               [&](const std::string& file) { return Matches(rule, file); }))
        idle.push_back(&rule);
    }
    if (idle.empty()) return;
    generated_([&](std::string_view name) {
      std::erase_if(idle, [&](const project::Rule* rule) { return Matches(*rule, name); });
    });
    Limited limited(*this, WarningKind::kRuleMatchesNothing, "rules match nothing");
    for (const project::Rule* rule : idle) {
      limited.Tell([&] {
        return fmt::format("{}: [[rule]] match: nothing matches \"{}\"{}", PlaceOfLine(rule->line),
                           rule->match.pattern(), NearPattern(rule->match));
      });
    }
  }

  static bool Matches(const project::Rule& rule, std::string_view name) {
    return rule.match.Matches(rule.ignore_case ? absl::AsciiStrToLower({name.data(), name.size()})
                                               : std::string(name));
  }

  // Returns the nearest folders, if the pattern's own folder does not exist; otherwise the nearest
  // files.
  std::string NearPattern(const content::Glob& glob) {
    const std::string folder = glob.LiteralFolder();
    const bool is_there =
        folder.size() <= 1 || table_.snapshot().Kind(folder) == content::EntryKind::kFolder;
    const std::string near = is_there ? "" : Near(folder, Folders());
    return near.empty() ? Near(glob.pattern(), files_) : near;
  }

  const std::vector<std::string>& Folders() {
    if (!folders_.empty()) return folders_;
    std::set<std::string> folders;
    for (const std::string& file : files_) {
      for (std::string_view folder = content::FolderOf(file);
           folder.size() > 1 && folders.emplace(folder).second;
           folder = content::FolderOf(folder)) {
      }
    }
    folders_.assign(folders.begin(), folders.end());
    return folders_;
  }

  std::string Near(std::string_view pattern, const std::vector<std::string>& names) {
    if (names.size() > comparisons_left_) return "";
    comparisons_left_ -= names.size();
    return NearText(ReallyNear(pattern, NearNames(pattern, names, kIdleNearMax)));
  }

  void FindMounts() {
    for (size_t i = 0; i < project_.mounts.size(); ++i) {
      const content::Mount& mount = project_.mounts[i];
      if (ShowsFile(mount)) continue;
      Tell(WarningKind::kMountEmpty,
           fmt::format("{}: [[mount]] {}: no file of {} is there to be cooked{}",
                       PlaceOfLine(i < project_.mount_lines.size() ? project_.mount_lines[i] : 0),
                       mount.path, mount.directory, NearFolder(mount.directory)));
    }
  }

  bool ShowsFile(const content::Mount& mount) const {
    const std::string below = mount.path == "/" ? "/" : mount.path + "/";
    const std::string host = mount.directory + "/";
    const content::FileList files = table_.snapshot().files();
    return std::ranges::any_of(files, [&](const content::FileEntry& file) {
      return file.path.starts_with(below) && file.host_path.starts_with(host);
    });
  }

  // Returns folders beside an empty folder.
  std::string NearFolder(const std::string& directory) {
    const std::string parent = directory.substr(0, directory.rfind('/'));
    std::vector<std::string> beside;
    std::error_code error;
    for (std::filesystem::directory_iterator at(parent, error), end; !error && at != end;
         at.increment(error)) {
      if (at->is_directory(error) && at->path() != directory) beside.push_back(at->path().string());
    }
    std::ranges::sort(beside);
    return Near(directory, beside);
  }

  // Finds what rules and sidecars ask for.
  void FindNeeds() {
    std::map<std::string, int> resources, labels;  // with the line of a rule; 0: a sidecar
    for (const project::Rule& rule : project_.rules) {
      if (rule.body.resources) {
        for (const auto& [name, count] : *rule.body.resources) resources.emplace(name, rule.line);
      }
      if (rule.body.labels) {
        for (const std::string& name : *rule.body.labels) labels.emplace(name, rule.line);
      }
    }
    if (!project_.resources.empty()) AddAskedForBySidecars(resources);
    TellUnasked(resources);
    const bool others_may_come = !project_.farm.listen.empty() || project_.farm.launcher == "none";
    if (others_may_come) return;
    std::vector<std::string> known;
    for (const auto& [name, count] : project_.resources) known.push_back(name);
    for (const auto& [name, count] : project_.farm.offer.resources) known.push_back(name);
    TellUnknown("resources", WarningKind::kResourceUnknown, kNoResource, resources, known);
    TellUnknown("labels", WarningKind::kLabelUnknown, kNoLabel, labels, project_.farm.offer.labels);
    TellUnknownOfSidecars(known);
  }

  void AddAskedForBySidecars(std::map<std::string, int>& resources) const {
    for (const std::string& name : table_.names()) {
      const RecipesPtr recipes = table_.RecipesOf(name);
      if (recipes == nullptr || recipes->empty()) continue;
      for (const auto& [resource, count] : recipes->front().needs.resources)
        resources.emplace(resource, 0);
    }
  }

  // Tells the unknown names in sidecars, with their own lines. Reads only sidecars of packages that
  // ask for what nobody has.
  void TellUnknownOfSidecars(const std::vector<std::string>& resources) {
    const std::vector<std::string>& labels = project_.farm.offer.labels;
    Limited of_resources(*this, WarningKind::kResourceUnknown, "names of resources in sidecars");
    Limited of_labels(*this, WarningKind::kLabelUnknown, "names of labels in sidecars");
    for (const content::FileEntry& file : table_.snapshot().files()) {
      if (!project::IsSidecar(file.path) || !NeedsUnknown(file.path, resources)) continue;
      const std::string place = PlaceOf(file);
      const auto text = ReadFile(file.host_path, kTomlBytesMax);
      const auto document = text.ok() ? ParseToml(*text, place) : text.status();
      if (!document.ok()) continue;  // the table of packages reports the error
      TellUnknownIn(*document, place, "resources", kNoResource, resources, of_resources);
      TellUnknownIn(*document, place, "labels", kNoLabel, labels, of_labels);
    }
  }

  bool NeedsUnknown(std::string_view sidecar, const std::vector<std::string>& resources) const {
    sidecar.remove_suffix(project::kSidecarSuffix.size());
    const RecipesPtr recipes = table_.RecipesOf(sidecar);
    if (recipes == nullptr || recipes->empty()) return false;
    const project::Needs& needs = recipes->front().needs;
    return std::ranges::any_of(needs.resources,
                               [&](const auto& one) { return !Contains(resources, one.first); }) ||
           std::ranges::any_of(needs.labels, [&](const std::string& one) {
             return !Contains(project_.farm.offer.labels, one);
           });
  }

  class Limited;
  void TellUnknownIn(const TomlValue& document, const std::string& place, const std::string& key,
                     std::string_view why, const std::vector<std::string>& known,
                     Limited& limited) {
    for (const auto& [name, line] : NamesIn(document, key)) {
      if (Contains(known, name)) continue;
      limited.Tell([&] {
        return fmt::format("{}:{}: {} \"{}\": {}{}", place, line, key, name, why,
                           Near(name, known));
      });
    }
  }

  // Returns the path as people write it: relative to the project if the file lies there.
  std::string PlaceOf(const content::FileEntry& file) const {
    const std::string below = project_.root + "/";
    return file.host_path.starts_with(below) ? file.host_path.substr(below.size()) : file.host_path;
  }

  void TellUnasked(const std::map<std::string, int>& asked) {
    std::vector<std::string> names;
    for (const auto& [name, line] : asked) names.push_back(name);
    for (const auto& [name, count] : project_.resources) {
      if (asked.contains(name)) continue;
      const auto line = project_.resource_lines.find(name);
      Tell(WarningKind::kResourceUnknown,
           fmt::format("{}: [resources] \"{}\": no rule asks for it{}",
                       PlaceOfLine(line == project_.resource_lines.end() ? 0 : line->second), name,
                       Near(name, names)));
    }
  }

  void TellUnknown(std::string_view key, WarningKind kind, std::string_view why,
                   const std::map<std::string, int>& asked, const std::vector<std::string>& known) {
    for (const auto& [name, line] : asked) {
      if (line == 0 || Contains(known, name)) continue;
      Tell(kind, fmt::format("{}: [[rule]] {} \"{}\": {}{}", PlaceOfLine(line), key, name, why,
                             Near(name, known)));
    }
  }

  // Finds folders <mount>/L10N/<culture>.
  void FindCultures() {
    const bool are_asked = !cultures_.empty();
    const std::vector<std::string>& cultures = are_asked ? cultures_ : project_.cook.cultures;
    if (cultures.empty()) return;
    const std::string place =
        are_asked ? "--culture" : SourceOf("cook.cultures") + ": [cook] cultures";
    std::set<std::string> known;
    for (const content::Mount& mount : project_.mounts) {
      const std::string prefix = mount.path + "/L10N/";
      for (auto file = std::lower_bound(files_.begin(), files_.end(), prefix);
           file != files_.end() && file->starts_with(prefix); ++file)
        known.insert(file->substr(prefix.size(), file->find('/', prefix.size()) - prefix.size()));
    }
    const std::vector<std::string> names(known.begin(), known.end());
    for (const std::string& culture : cultures) {
      if (known.contains(culture)) continue;
      Tell(WarningKind::kCultureUnknown,
           fmt::format("{} \"{}\": no file is in a folder L10N/{}{}", place, culture, culture,
                       Near(culture, names)));
    }
  }

  std::string SourceOf(std::string_view key) const {
    for (const project::Origin& one : project_.origins) {
      if (one.key == key) return one.source;
    }
    return std::string(project::kProjectFile);
  }

  // Keys that an older Galley had.
  void FindKeysWithoutEffect() {
    const std::string place = SourceOf("farm.placement");
    if (place != "default")
      Tell(WarningKind::kKeyWithoutEffect,
           fmt::format("{}: `farm.placement` has no effect any more: remove it", place));
  }

  void FindMapSections() {
    for (const auto& [section, patterns] : project_.map_sections) {
      for (const project::Pattern& pattern : patterns) {
        const auto glob = content::Glob::Parse(pattern.text);
        if (!glob.ok() || pattern.text.find("/_gen/") != std::string::npos ||
            std::ranges::any_of(files_,
                                [&](const std::string& file) { return glob->Matches(file); }))
          continue;
        Tell(WarningKind::kMapSectionIdle,
             fmt::format("{}: [map_section.{}]: nothing matches \"{}\"{}", pattern.place, section,
                         pattern.text, NearPattern(*glob)));
      }
    }
  }

  void Tell(WarningKind kind, std::string text) { warnings_.push_back({kind, std::move(text)}); }

  // Limited: tells the first of many warnings, and how many more there are.
  class Limited {
   public:
    Limited(IdleFinder& finder, WarningKind kind, std::string_view what)
        : finder_(finder), kind_(kind), what_(what) {}
    ~Limited() {
      if (count_ > kIdleToldMax)
        finder_.Tell(kind_, fmt::format("and {} more {}", count_ - kIdleToldMax, what_));
    }
    Limited(const Limited&) = delete;
    Limited& operator=(const Limited&) = delete;
    template <typename Text>
    void Tell(const Text& text) {
      if (++count_ <= kIdleToldMax) finder_.Tell(kind_, text());
    }

   private:
    IdleFinder& finder_;
    const WarningKind kind_;
    const std::string_view what_;
    size_t count_ = 0;
  };

  const project::Project& project_;
  const ProjectCatalog& table_;
  const VisitGenerated& generated_;
  const std::vector<std::string>& cultures_;
  std::vector<std::string> files_;  // sorted, without sidecars
  std::vector<std::string> folders_;
  size_t comparisons_left_ = 4 * kIdleNearMax;
  std::vector<record::Warning> warnings_;
};

}  // namespace

std::vector<record::Warning> IdleNames(const project::Project& project, const ProjectCatalog& table,
                                       const VisitGenerated& generated,
                                       const std::vector<std::string>& cultures) {
  return IdleFinder(project, table, generated, cultures).Find();
}

bool IsOfIdleNames(WarningKind kind) {
  constexpr WarningKind kKinds[] = {
      WarningKind::kCultureUnknown,     WarningKind::kKeyWithoutEffect,
      WarningKind::kLabelUnknown,       WarningKind::kMapSectionIdle,
      WarningKind::kMountEmpty,         WarningKind::kResourceUnknown,
      WarningKind::kRuleMatchesNothing,
  };
  return std::find(std::begin(kKinds), std::end(kKinds), kind) != std::end(kKinds);
}

VisitGenerated GeneratedIn(const ProjectCatalog& table, Journal* journal) {
  return [&table, journal](const std::function<void(std::string_view)>& visit) {
    for (const std::string& name : table.GeneratedNames()) visit(name);
    if (journal == nullptr) return;
    (void)journal->ForEach([&](std::string_view package, const PackageRecord&) {
      if (package.find("/_gen/") != std::string_view::npos) visit(package);
    });
  };
}

std::vector<record::Warning> IdleNever(const ProjectCatalog& table,
                                       const VisitGenerated& generated) {
  std::vector<project::Pattern> idle = table.UnmatchedNeverPatterns();
  if (!idle.empty()) {
    generated([&](std::string_view name) {
      std::erase_if(idle, [&](const project::Pattern& pattern) {
        const auto glob = content::Glob::Parse(pattern.text);
        return glob.ok() && glob->Matches(name);
      });
    });
  }
  std::vector<record::Warning> warnings;
  for (const project::Pattern& never : idle) warnings.push_back(NeverWarning(never, table));
  return warnings;
}

record::Warning NeverWarning(const project::Pattern& never, const ProjectCatalog& table) {
  const bool is_argument = never.place == "--never";
  return {WarningKind::kNeverMatchesNothing,
          fmt::format("{}: nothing matches \"{}\"{}",
                      is_argument ? never.place : never.place + ": [cook] never", never.text,
                      NearText(ReallyNear(never.text,
                                          NearNames(never.text, table.names(), kIdleNearMax))))};
}

}  // namespace galley::director

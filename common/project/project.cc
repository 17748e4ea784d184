#include "common/project/project.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/content/name.h"
#include "common/project/later_keys.h"
#include "common/project/layers.h"
#include "common/project/platforms.h"
#include "common/project/rule_body.h"
#include "common/project/sections.h"
#include "common/toml/value_reader.h"
#include "fmt/format.h"

namespace galley::project {
namespace {

constexpr size_t kMountsMax = 1024;
constexpr size_t kRulesMax = 4096;
constexpr int64_t kPriorityMax = 1'000'000;

// The elements of [[name]]; empty when there are none.
absl::StatusOr<std::vector<const TomlValue*>> Elements(const TomlValue& document,
                                                       std::string_view name, size_t count_max) {
  std::vector<const TomlValue*> elements;
  const auto found = document.table()->find(std::string(name));
  if (found == document.table()->end()) return elements;
  const TomlValue::Array* array = found->second.array();
  if (array == nullptr) {
    return ErrorAt(kProjectFile, found->second.line,
                   fmt::format("write `[[{}]]`: there can be several", name));
  }
  if (array->size() > count_max) {
    return ErrorAt(kProjectFile, found->second.line,
                   fmt::format("more than {} [[{}]]", count_max, name));
  }
  for (const TomlValue& element : *array) elements.push_back(&element);
  return elements;
}

absl::StatusOr<content::Mount> ReadMount(const TomlValue& value, const std::string& root) {
  ASSIGN_OR_RETURN(const TableReader table,
                   TableReader::Create(value, kProjectFile, "mount",
                                       {"dir", "engine", "path", "priority", "stage_as"}));
  content::Mount mount;
  ASSIGN_OR_RETURN(mount.path, table.Required("path"));
  if (absl::Status status = content::ValidateVirtualPath(mount.path); !status.ok()) {
    return table.Error("path", MessageOf(status));
  }
  ASSIGN_OR_RETURN(const std::string dir, table.Required("dir"));
  if (dir.starts_with("~/"))
    return table.Error("dir", "`dir`: `~/` is not expanded; write the whole path");
  mount.directory = AbsolutePath(dir, root);
  const absl::StatusOr<FileStat> stat = StatFile(mount.directory);
  if (!stat.ok() || !S_ISDIR(stat->mode)) {
    return table.Error("dir",
                       fmt::format("mount {}: {} is not a folder", mount.path, mount.directory));
  }
  ASSIGN_OR_RETURN(const std::optional<int64_t> priority,
                   table.Integer("priority", -kPriorityMax, kPriorityMax));
  mount.priority = static_cast<int>(priority.value_or(0));
  ASSIGN_OR_RETURN(const std::optional<bool> engine, table.Bool("engine"));
  mount.is_engine = engine.value_or(false);
  ASSIGN_OR_RETURN(const std::optional<std::string> stage_as, table.String("stage_as"));
  mount.stage_as = stage_as.value_or("");
  if (stage_as) {
    const absl::Status status = content::ValidateVirtualPath(*stage_as);
    if (!status.ok()) return table.Error("stage_as", "`stage_as`: " + MessageOf(status));
  }
  return mount;
}

absl::Status ReadMounts(const TomlValue& document, Project& project) {
  ASSIGN_OR_RETURN(const std::vector<const TomlValue*> elements,
                   Elements(document, "mount", kMountsMax));
  if (elements.empty()) {
    return ErrorAt(
        kProjectFile, 0,
        "no [[mount]]: say which folder holds the content (path = \"/Game\", dir = \"content\")");
  }
  std::set<std::pair<std::string, int>> seen;
  for (const TomlValue* element : elements) {
    ASSIGN_OR_RETURN(content::Mount mount, ReadMount(*element, project.root));
    if (!seen.emplace(mount.path, mount.priority).second) {
      return ErrorAt(kProjectFile, element->line,
                     fmt::format("another mount at {} has priority {}, too; give this one a higher "
                                 "or lower `priority`",
                                 mount.path, mount.priority));
    }
    project.mounts.push_back(std::move(mount));
    project.mount_lines.push_back(element->line);
  }
  return absl::OkStatus();
}

// The store and the sandboxes are no content: a folder of theirs that holds a mount would hide all
// of its files, and Galley would write among them.
absl::Status CheckOwnFolders(const Layers& layers, const Project& project) {
  const auto holds = [](const std::string& folder, const std::string& other) {
    return other == folder || other.starts_with(folder == "/" ? folder : folder + "/");
  };
  for (const auto& [key, folder] : {std::pair{"store.dir", project.store.directory},
                                    std::pair{"output.dir", project.output_directory}}) {
    const Layers::Value* value = layers.Find(key);
    for (const content::Mount& mount : project.mounts) {
      if (value == nullptr || !holds(folder, mount.directory)) continue;
      return WrongValue(
          *value,
          fmt::format("`{}` {} {} the content of [[mount]] {}, and Galley keeps files of "
                      "its own there: give a folder that holds no content (the default is "
                      "{})",
                      key, folder, folder == mount.directory ? "is" : "holds", mount.path,
                      std::string_view(key) == "store.dir" ? ".galley/store" : ".galley/cooked"));
    }
  }
  return absl::OkStatus();
}

absl::Status ReadPlatforms(const TomlValue& document, Project& project) {
  ASSIGN_OR_RETURN(const std::vector<const TomlValue*> elements,
                   Elements(document, "platform", kPlatformsMax));
  if (elements.empty()) {
    return ErrorAt(kProjectFile, 0,
                   "no [[platform]]: say what to cook for (name = \"windows\", texture = \"bc\")");
  }
  for (const TomlValue* element : elements) {
    ASSIGN_OR_RETURN(Platform platform, ReadPlatform(*element, kProjectFile));
    for (const Platform& other : project.platforms) {
      if (other.name == platform.name) {
        return ErrorAt(kProjectFile, element->line,
                       fmt::format("there is a platform `{}` already", platform.name));
      }
    }
    project.platforms.push_back(std::move(platform));
  }
  return absl::OkStatus();
}

absl::Status ReadRules(const TomlValue& document, Project& project) {
  std::vector<std::string> platforms;
  for (const Platform& platform : project.platforms) platforms.push_back(platform.name);
  ASSIGN_OR_RETURN(const std::vector<const TomlValue*> elements,
                   Elements(document, "rule", kRulesMax));
  for (const TomlValue* element : elements) {
    ASSIGN_OR_RETURN(RuleBody body,
                     ReadRuleBody(*element, kProjectFile, "rule", {"ignore_case", "match"}));
    for (const auto& [name, line] : body.platform_lines) {
      if (std::ranges::find(platforms, name) != platforms.end()) continue;
      return ErrorAt(kProjectFile, line, UnknownName("platform", name, platforms));
    }
    ASSIGN_OR_RETURN(const TableReader table,
                     TableReader::Create(*element, kProjectFile, "rule", {}));
    ASSIGN_OR_RETURN(const std::string match, table.Required("match"));
    if (!match.starts_with('/') && !match.starts_with("**/") && !match.starts_with('{')) {
      return table.Error(
          "match",
          fmt::format(
              "`match` is about virtual paths, which begin with `/`; did you mean `/**/{}`?",
              match));
    }
    ASSIGN_OR_RETURN(const std::optional<bool> ignore_case, table.Bool("ignore_case"));
    const bool ignores_case = ignore_case.value_or(false);
    absl::StatusOr<content::Glob> glob =
        content::Glob::Parse(ignores_case ? absl::AsciiStrToLower(match) : match);
    if (!glob.ok()) return table.Error("match", MessageOf(glob.status()));
    ASSIGN_OR_RETURN(const std::string text, ToJson(*element, kProjectFile));
    project.rules.push_back({*std::move(glob), std::move(body), table.Find("match")->line,
                             ignores_case, Digest::Of(text)});
  }
  return absl::OkStatus();
}

absl::StatusOr<Digest> DigestButRules(const TomlValue& document) {
  TomlValue rest = document;
  std::get<TomlValue::Table>(rest.data).erase("rule");
  ASSIGN_OR_RETURN(const std::string text, ToJson(rest, kProjectFile));
  return Digest::Of(text);
}

absl::Status ReadMapSections(const TomlValue& document, Project& project) {
  const auto found = document.table()->find("map_section");
  if (found == document.table()->end()) return absl::OkStatus();
  RETURN_IF_ERROR(TableReader::Create(found->second, kProjectFile, "map_section", {}).status());
  for (const auto& [name, value] : *found->second.table()) {
    ASSIGN_OR_RETURN(const TableReader table,
                     TableReader::Create(value, kProjectFile, "map_section." + name, {"maps"}));
    ASSIGN_OR_RETURN(const std::optional<std::vector<std::string>> maps, table.Strings("maps"));
    std::vector<Pattern>& patterns = project.map_sections[name];
    for (size_t i = 0; maps && i < maps->size(); ++i) {
      const int line = table.Find("maps")->array()->at(i).line;
      const absl::Status status = content::Glob::Parse((*maps)[i]).status();
      if (!status.ok()) return ErrorAt(kProjectFile, line, MessageOf(status));
      patterns.emplace_back((*maps)[i], fmt::format("{}:{}", kProjectFile, line));
    }
  }
  return absl::OkStatus();
}

absl::Status ReadResources(const TomlValue& document, Project& project) {
  const auto found = document.table()->find("resources");
  if (found == document.table()->end()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const TableReader table,
                   TableReader::Create(found->second, kProjectFile, "resources", {}));
  for (const auto& [name, value] : *found->second.table()) {
    if (const absl::Status known = record::CheckOfferName(name); !known.ok())
      return table.Error(name, MessageOf(known));
    ASSIGN_OR_RETURN(const std::optional<int64_t> count,
                     table.Integer(name, 0, record::WorkerOffer::kCountMax));
    project.resources[name] = static_cast<uint32_t>(*count);
    project.resource_lines[name] = value.line;
  }
  return absl::OkStatus();
}

absl::Status CheckTopLevel(const TomlValue& document, std::string_view file, bool is_project_file) {
  std::vector<std::string> known = KnownSections();
  const std::vector<std::string> project_only = {"map_section", "mount", "platform", "resources",
                                                 "rule"};
  if (is_project_file) known.insert(known.end(), project_only.begin(), project_only.end());
  RETURN_IF_ERROR(RefuseLaterKeys(document, file));
  for (const auto& [key, value] : *document.table()) {
    if (!is_project_file && std::ranges::find(project_only, key) != project_only.end()) {
      return ErrorAt(file, value.line,
                     fmt::format("`{}` belongs in a project's {}", key, kProjectFile));
    }
  }
  return TableReader::Create(document, file, "", known).status();
}

// ~/.config/galley/config.toml, when there is one.
absl::Status AddUserFile(const LoadOptions& options, const std::string& root, Layers& layers) {
  const auto home = options.environment.find("HOME");
  if (home == options.environment.end() || home->second.empty()) return absl::OkStatus();
  const std::string file = JoinPath(home->second, ".config/galley/config.toml");
  const absl::StatusOr<std::string> text = ReadFile(file, kTomlBytesMax);
  if (absl::IsNotFound(text.status())) return absl::OkStatus();
  if (!text.ok()) return text.status();
  ASSIGN_OR_RETURN(const TomlValue document, ParseToml(*text, file));
  RETURN_IF_ERROR(CheckTopLevel(document, file, /*is_project_file=*/false));
  return layers.AddFile(document, file, root);
}

}  // namespace

std::string_view NameOf(Walls walls) {
  switch (walls) {
    case Walls::kBest:
      return "best";
    case Walls::kRequire:
      return "require";
    case Walls::kOff:
      return "off";
  }
  return "best";
}

std::string Project::state_directory() const { return JoinPath(root, ".galley/state"); }

absl::StatusOr<Project> LoadProject(const LoadOptions& options) {
  Project project;
  project.root = AbsolutePath(options.directory);
  const absl::StatusOr<std::string> text =
      ReadFile(JoinPath(project.root, kProjectFile), kTomlBytesMax);
  if (absl::IsNotFound(text.status())) {
    return NotFoundError("there is no {} in {}; `galley init {}` writes one", kProjectFile,
                         project.root, project.root);
  }
  if (!text.ok()) return text.status();
  project.file_digest = Digest::Of(*text);
  ASSIGN_OR_RETURN(const TomlValue document, ParseToml(*text, kProjectFile));
  RETURN_IF_ERROR(CheckTopLevel(document, kProjectFile, /*is_project_file=*/true));
  Layers layers;
  RETURN_IF_ERROR(AddUserFile(options, project.root, layers));
  RETURN_IF_ERROR(layers.AddFile(document, kProjectFile, project.root));
  RETURN_IF_ERROR(RefuseLaterVariables(options.environment));
  RETURN_IF_ERROR(layers.AddEnvironment(options.environment));
  RETURN_IF_ERROR(layers.AddOverrides(options.overrides));
  RETURN_IF_ERROR(ReadSections(layers, project));
  RETURN_IF_ERROR(ReadMounts(document, project));
  RETURN_IF_ERROR(CheckOwnFolders(layers, project));
  RETURN_IF_ERROR(ReadPlatforms(document, project));
  RETURN_IF_ERROR(ReadRules(document, project));
  RETURN_IF_ERROR(ReadMapSections(document, project));
  RETURN_IF_ERROR(ReadResources(document, project));
  ASSIGN_OR_RETURN(project.but_rules, DigestButRules(document));
  return project;
}

absl::StatusOr<std::string> FindProject(const std::string& start) {
  const std::string begin = AbsolutePath(start);
  for (std::filesystem::path folder = begin;; folder = folder.parent_path()) {
    if (FileExists(JoinPath(folder.string(), kProjectFile))) return folder.string();
    if (folder == folder.parent_path()) break;
  }
  return NotFoundError("there is no {} in {} or above it; `galley init` writes one", kProjectFile,
                       begin);
}

}  // namespace galley::project

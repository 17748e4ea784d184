#include "director/cli/init/survey.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "common/content/snapshot.h"
#include "fmt/format.h"

namespace galley::init {
namespace {

// The limit of a scan (common/content/walk.h).
constexpr int kFolderLinksMax = 4;

using Names = std::set<std::string, std::less<>>;

struct SurveyedFolder {
  std::string path;
  int links = 0;
};

Names NamesOf(const std::vector<Entry>& entries, EntryKind kind) {
  Names names;
  for (const Entry& entry : entries) {
    if (entry.kind == kind) names.insert(entry.name);
  }
  return names;
}

bool HasSuffix(const Names& names, std::string_view suffix) {
  return std::ranges::any_of(names,
                             [&](const std::string& name) { return name.ends_with(suffix); });
}

// Why no game loads what is in a folder of this name, beside these files and folders; "" when that
// is not known.
std::string ReasonByName(std::string_view name, const Names& files, const Names& folders) {
  static const Names kTools = {"node_modules", "bower_components", "__pycache__", "CMakeFiles",
                               "DerivedDataCache"};
  static const Names kUnity = {"Library",         "Temp",          "Logs", "obj", "UserSettings",
                               "ProjectSettings", "MemoryCaptures"};
  static const Names kUnreal = {"Intermediate", "Saved", "Binaries", "Build"};
  if (kTools.contains(name)) return "files of a build tool";
  if (name.ends_with(".xcodeproj") || name.ends_with(".xcworkspace")) return "a project of Xcode";
  if (folders.contains("ProjectSettings") && kUnity.contains(name)) return "made by Unity's editor";
  if (HasSuffix(files, ".uproject") && kUnreal.contains(name)) return "made by Unreal's editor";
  if (name == "target" && files.contains("Cargo.toml")) return "a build folder";
  return "";
}

// Why no game loads what is in a folder that holds these files.
std::string ReasonByFiles(const Names& files) {
  for (const char* name : {"CMakeCache.txt", "CACHEDIR.TAG", "pyvenv.cfg", ".ninja_log"}) {
    if (files.contains(name)) return fmt::format("a build folder or cache: it holds {}", name);
  }
  if (files.contains(content::kSandboxFile)) return "a sandbox: what a cook made";
  return "";
}

class Surveyor {
 public:
  Surveyor(const Tree& tree, size_t files_max) : tree_(tree), files_max_(files_max) {}

  Survey TakeAll() {
    folders_.push_back({"", 0});
    while (!folders_.empty() && !survey_.is_cut) {
      const SurveyedFolder folder = folders_.back();
      folders_.pop_back();
      LookInto(folder);
    }
    const auto by_path = [](const auto& a, const auto& b) { return a.path < b.path; };
    std::ranges::sort(survey_.files, by_path);
    std::ranges::sort(survey_.omissions, by_path);
    return std::move(survey_);
  }

 private:
  void LookInto(const SurveyedFolder& folder) {
    const auto entries = tree_.List(folder.path);
    if (!entries.ok()) {
      Omit(folder.path, "a folder that cannot be read", {.is_folder = true});
      return;
    }
    const Names files = NamesOf(*entries, EntryKind::kFile);
    const Names folders = NamesOf(*entries, EntryKind::kFolder);
    if (const std::string reason = ReasonByFiles(files); !reason.empty() && !folder.path.empty()) {
      Omit(folder.path, reason, {.is_folder = true});
      return;
    }
    for (const Entry& entry : *entries) {
      const std::string path = folder.path.empty() ? entry.name : folder.path + "/" + entry.name;
      AddEntry(folder, entry, path, files, folders);
    }
  }

  void AddEntry(const SurveyedFolder& folder, const Entry& entry, const std::string& path,
                const Names& files, const Names& folders) {
    const bool is_folder = entry.kind == EntryKind::kFolder;
    if (entry.name == ".galley") return;
    if (entry.name.starts_with('.')) {
      Omit(path, "a name that begins with a dot", {.is_hidden = true, .is_folder = is_folder});
      return;
    }
    if (entry.kind == EntryKind::kTrouble) {
      Omit(path, entry.trouble, {.has_bad_name = entry.has_bad_name});
      return;
    }
    if (is_folder) {
      const std::string reason = ReasonByName(entry.name, files, folders);
      const int links = folder.links + (entry.link_target.empty() ? 0 : 1);
      if (!reason.empty()) {
        Omit(path, reason, {.is_folder = true});
      } else if (links > kFolderLinksMax) {
        Omit(path, "a link to a folder, behind too many others", {.is_folder = true});
      } else {
        folders_.push_back({path, links});
        if (!entry.link_target.empty()) survey_.links[path] = entry.link_target;
      }
      return;
    }
    if (survey_.files.size() >= files_max_) {
      survey_.is_cut = true;
      return;
    }
    survey_.files.push_back({path, entry.size_bytes});
    if (!entry.link_target.empty()) survey_.links[path] = entry.link_target;
  }

  void Omit(const std::string& path, std::string reason, Omission omission) {
    omission.path = path;
    omission.reason = std::move(reason);
    survey_.omissions.push_back(std::move(omission));
  }

  const Tree& tree_;
  const size_t files_max_;
  std::vector<SurveyedFolder> folders_;
  Survey survey_;
};

}  // namespace

Survey TakeSurvey(const Tree& tree, size_t files_max) {
  return Surveyor(tree, files_max).TakeAll();
}

}  // namespace galley::init

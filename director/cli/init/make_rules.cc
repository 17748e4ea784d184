#include "director/cli/init/make_rules.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "common/content/name.h"
#include "director/cli/init/cover.h"
#include "director/cli/init/name_rules.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace galley::init {
namespace {

using Paths = std::set<std::string>;

// A glob of this many names is still read with one look.
constexpr size_t kExtensionsInBraces = 24;
// So few folders and files to ignore are no trouble to read.
constexpr size_t kIgnoresShort = 8;
// So many patterns of one reason are still written; beyond, the table says how many files are left.
constexpr size_t kIgnoresMax = 400;

struct Known {
  const Judged* judged;
  std::string path;  // virtual
};

// The files of one extension, in any case.
struct Kind {
  std::string extension;  // lower case
  Paths written;          // the extension, as it is written
  std::vector<Known> files;
  Paths all;  // virtual paths
};

std::string Braces(const Paths& words) {
  if (words.size() == 1) return *words.begin();
  return fmt::format("{{{}}}", fmt::join(words, ","));
}

// "*.png", "*.{jpg,png}": names that end so.
std::string NamesWithExtension(const Paths& extensions) { return "*." + Braces(extensions); }

class RuleMaker {
 public:
  RuleMaker(const std::vector<Root>& roots, const std::vector<Judged>& files,
            const Relations& relations)
      : roots_(roots), relations_(relations) {
    prefix_ = roots.size() == 1 ? roots[0].path + "/**/" : "/**/";
    for (const Judged& file : files) {
      const Root* root = RootOf(roots, file.file.path);
      if (root == nullptr || IsInFolderLeftOut(VirtualPath(*root, file.file.path))) continue;
      Kind& kind = kinds_[Extension(file.file.path)];
      kind.extension = Extension(file.file.path);
      const std::string_view path = file.file.path;
      kind.written.emplace(path.substr(path.size() - kind.extension.size()));
      kind.files.push_back({&file, VirtualPath(*root, path)});
      kind.all.insert(kind.files.back().path);
      all_.insert(kind.files.back().path);
      ++names_[std::string(FileName(path))];
      if (file.decision.action == Action::kLeaveOut) ++names_left_[std::string(FileName(path))];
    }
  }

  SuggestedRules MakeAll(const std::vector<Omission>& omissions) {
    for (const Omission& omission : omissions) IgnoreOmission(omission);
    if (roots_[0].folder.empty()) IgnoreGlob("the project file", "/Game/galley.toml");
    for (const auto& [folder, reason] : relations_.folders_left_out)
      IgnoreGlob(reason, AsGlob(folder));
    for (const auto& [extension, kind] : kinds_) {
      MakeRulesOf(kind);
      NameWhatIsRead(kind);
    }
    // A glob for files without extension may be a whole folder: what comes later wins.
    for (auto& [key, globs] : without_extension_) WriteNamed(key, globs);
    WriteGeneralRules();
    WriteTextureRules();
    for (auto& [key, globs] : exceptions_) WriteNamed(key, globs);
    if (!licences_.empty()) {
      made_.rules.push_back({prefix_ + Braces(licences_), "copy", "",
                             "Licences and credits: most must go with what they are for."});
    }
    for (auto& [reason, globs] : read_) {
      std::string comment = Sentence(reason) + " No packages of their own.";
      for (std::string& glob : globs) {
        made_.rules.push_back({std::move(glob), "", "", comment});
        comment.clear();
      }
    }
    for (auto& [comment, globs] : ignored_) {
      std::vector<std::string> sorted(globs.begin(), globs.end());
      made_.ignores.push_back({std::move(sorted), comment});
    }
    return std::move(made_);
  }

 private:
  using CookerAndReason = std::pair<std::string, std::string>;

  bool IsInFolderLeftOut(std::string_view path) const {
    const auto& folders = relations_.folders_left_out;
    return std::ranges::any_of(
        folders, [&](const auto& folder) { return content::IsUnder(path, folder.first); });
  }

  void IgnoreGlob(const std::string& comment, std::string glob) {
    ignored_[comment].insert(std::move(glob));
  }

  void IgnoreOmission(const Omission& omission) {
    if (omission.has_bad_name) return;  // no glob can say it
    if (omission.is_hidden) return IgnoreGlob("names that begin with a dot", ".*");
    const Root* root = RootOf(roots_, omission.path);
    if (root == nullptr) return;
    const std::string_view name = FileName(omission.path);
    const bool is_by_name = omission.reason == "files of a build tool";
    IgnoreGlob(omission.reason,
               is_by_name ? std::string(name) : AsGlob(VirtualPath(*root, omission.path)));
  }

  void MakeRulesOf(const Kind& kind) {
    std::map<std::string, size_t> cookers;
    size_t packages = 0;
    size_t read = 0;
    size_t left = 0;
    for (const Known& file : kind.files) {
      const Decision& decision = file.judged->decision;
      if (IsPackage(decision)) {
        ++cookers[decision.cooker];
        ++packages;
      }
      read += decision.action == Action::kRead ? 1 : 0;
      left += decision.action == Action::kLeaveOut ? 1 : 0;
    }
    const bool has_plain_extension =
        !kind.extension.empty() && AsGlob(kind.extension) == kind.extension;
    if (packages == 0) {
      if (left > 0) LeaveOutAll(kind, has_plain_extension && read == 0);
      return;
    }
    const bool is_general = has_plain_extension && read == 0 && packages >= left &&
                            (left == 0 || !IsShorterByName(kind));
    if (is_general) {
      // When `copy` and another cooker have equally many files, the other one is the rule.
      const auto most = std::ranges::max_element(cookers, [](const auto& a, const auto& b) {
        return std::pair(a.second, a.first != "copy") < std::pair(b.second, b.first != "copy");
      });
      general_[most->first].insert(kind.extension);
      AddExceptions(kind, most->first);
      LeaveOutSome(kind);
    } else {
      AddExceptions(kind, "");
      LeaveOutNames(kind);
    }
  }

  // Files that others read get rules without a cooker, so that nobody is told of files without a
  // rule.
  void NameWhatIsRead(const Kind& kind) {
    std::map<std::string, Paths> read;
    for (const Known& file : kind.files) {
      const Decision& decision = file.judged->decision;
      if (decision.action == Action::kRead && !file.path.ends_with(".cook"))
        read[decision.reason].insert(file.path);
    }
    const bool has_extension = !kind.extension.empty();
    const std::string names = has_extension ? NamesWithExtension(kind.written) : "*";
    for (const auto& [reason, paths] : read) {
      for (std::string& glob : Cover(has_extension ? kind.all : all_, paths, names))
        read_[reason].push_back(std::move(glob));
    }
  }

  // True when it takes fewer globs to name the packages than to name what is left out.
  bool IsShorterByName(const Kind& kind) const {
    const std::string names = NamesWithExtension(kind.written);
    Paths left;
    Paths packages;
    for (const Known& file : kind.files) {
      const Decision& decision = file.judged->decision;
      if (IsPackage(decision)) packages.insert(file.path);
      if (decision.action == Action::kLeaveOut && !IsIgnoredByName(file)) left.insert(file.path);
    }
    const size_t to_ignore = Cover(kind.all, left, names).size();
    return to_ignore > kIgnoresShort && Cover(kind.all, packages, names).size() < to_ignore;
  }

  // Rules for the packages that another cooker takes.
  void AddExceptions(const Kind& kind, const std::string& general) {
    std::map<CookerAndReason, Paths> chosen;
    for (const Known& file : kind.files) {
      const Decision& decision = file.judged->decision;
      if (!IsPackage(decision) || decision.cooker == general) continue;
      const std::string name(FileName(file.path));
      const bool is_by_name =
          IsLicence(name) && AsGlob(name) == name && !names_left_.contains(name);
      if (is_by_name) {
        licences_.insert(name);
      } else {
        chosen[{decision.cooker, decision.reason}].insert(file.path);
      }
    }
    for (const auto& [key, paths] : chosen) {
      const bool has_extension = !kind.extension.empty();
      const std::string names = has_extension ? NamesWithExtension(kind.written) : "*";
      std::vector<std::string>& globs = (has_extension ? exceptions_ : without_extension_)[key];
      for (std::string& glob : Cover(has_extension ? kind.all : all_, paths, names))
        globs.push_back(std::move(glob));
    }
  }

  void LeaveOutAll(const Kind& kind, bool has_plain_extension) {
    if (!has_plain_extension) return LeaveOutNames(kind);
    std::map<std::string, size_t> reasons;
    for (const Known& file : kind.files) ++reasons[file.judged->decision.reason];
    const auto most = std::ranges::max_element(
        reasons, [](const auto& a, const auto& b) { return a.second < b.second; });
    IgnoreGlob(most->first, NamesWithExtension(kind.written));
  }

  // A name that is left out wherever it is.
  bool IsLeftOutByName(const Known& file) const {
    const std::string name(FileName(file.path));
    return AsGlob(name) == name && names_left_.contains(name) &&
           names_left_.at(name) == names_.at(name);
  }

  // The file's own name says that it is left out: `README.txt`.
  bool IsIgnoredByName(const Known& file) const {
    return DecideByName(file.path).has_value() && IsLeftOutByName(file);
  }

  // A rule takes all of the extension: what is left out has to be ignored.
  void LeaveOutSome(const Kind& kind) {
    std::map<std::string, Paths> left;
    for (const Known& file : kind.files) {
      const Decision& decision = file.judged->decision;
      if (decision.action != Action::kLeaveOut) continue;
      if (IsIgnoredByName(file)) {
        IgnoreGlob(decision.reason, std::string(FileName(file.path)));
      } else {
        left[decision.reason].insert(file.path);
      }
    }
    for (const auto& [reason, paths] : left) {
      std::vector<std::string> globs = Cover(kind.all, paths, NamesWithExtension(kind.written));
      for (std::string& glob : globs) IgnoreGlob(reason, std::move(glob));
    }
  }

  // No rule takes these. They are ignored, so that nobody is told of files without a rule: by their
  // own name, by the two ends of their names ("*.png.import"), or by path.
  void LeaveOutNames(const Kind& kind) {
    std::map<std::string, Paths> left;  // by reason
    for (const Known& file : kind.files) {
      const Decision& decision = file.judged->decision;
      if (decision.action != Action::kLeaveOut) continue;
      if (IsIgnoredByName(file)) {
        IgnoreGlob(decision.reason, std::string(FileName(file.path)));
      } else if (const std::string ends = EndsOf(file.path);
                 !ends.empty() && IsAllLeftOut(kind, ends)) {
        IgnoreGlob(decision.reason, "*" + ends);
      } else {
        left[decision.reason].insert(file.path);
      }
    }
    for (const auto& [reason, paths] : left) IgnorePaths(kind, reason, paths);
  }

  // ".png.import" of "wall.png.import"; "" when it has not two ends, or they mean something in a
  // glob.
  static std::string EndsOf(std::string_view path) {
    const std::string_view name = FileName(path);
    const size_t last = name.rfind('.');
    if (last == std::string_view::npos || last == 0) return "";
    const size_t before = name.rfind('.', last - 1);
    if (before == std::string_view::npos || before == 0) return "";
    const std::string ends(name.substr(before));
    return AsGlob(ends) == ends ? ends : "";
  }

  bool IsAllLeftOut(const Kind& kind, const std::string& ends) const {
    return std::ranges::all_of(kind.files, [&](const Known& file) {
      return !file.path.ends_with(ends) || file.judged->decision.action == Action::kLeaveOut;
    });
  }

  void IgnorePaths(const Kind& kind, const std::string& reason, const Paths& paths) {
    const bool has_extension = !kind.extension.empty();
    const std::string names = has_extension ? NamesWithExtension(kind.written) : "*";
    std::vector<std::string> globs = Cover(has_extension ? kind.all : all_, paths, names);
    if (globs.size() + ignored_[reason].size() <= kIgnoresMax) {
      for (std::string& glob : globs) IgnoreGlob(reason, std::move(glob));
      return;
    }
    made_.not_ignored += paths.size();
    if (made_.not_ignored_example.empty()) made_.not_ignored_example = *paths.begin();
  }

  static std::string_view CommentOf(std::string_view cooker) {
    if (cooker == "texture") return "Images become KTX2 in the platform's texture family.";
    if (cooker == "audio") return "Sounds become Ogg Opus, or Vorbis; loop points are kept.";
    if (cooker == "shader")
      return "Vulkan GLSL becomes what the platform's `shader` says. Includes are read, they need "
             "no rule.";
    if (cooker == "mesh")
      return "glTF becomes GLB: optimised, quantised. Its images are packages of their own.";
    if (cooker == "data")
      return "JSON becomes CBOR; {\"$ref\": \"brick.png\"} in it is a reference to a package.";
    return "Copied as they are.";
  }

  void WriteGeneralRules() {
    for (const char* cooker : {"copy", "texture", "audio", "shader", "mesh", "data"}) {
      const auto found = general_.find(cooker);
      if (found == general_.end()) continue;
      std::string comment(CommentOf(cooker));
      for (Paths part; !found->second.empty(); part.clear()) {
        while (!found->second.empty() && part.size() < kExtensionsInBraces)
          part.insert(found->second.extract(found->second.begin()));
        made_.rules.push_back(
            {prefix_ + NamesWithExtension(part), cooker, SettingsOf(cooker), comment, true});
        comment.clear();
      }
    }
  }

  std::string SettingsOf(std::string_view cooker) const {
    if (cooker != "shader" || relations_.include_folders.empty()) return "";
    return fmt::format("include_dirs = [\"{}\"]", fmt::join(relations_.include_folders, "\", \""));
  }

  // Settings of textures by the ends of their names, or by name.
  void WriteTextureRules() {
    struct Ending {
      Paths extensions;
      std::map<std::string, Paths> chosen;  // settings -> virtual paths
      std::map<std::string, std::string> reasons;
    };
    std::map<std::string, Ending> endings;
    Paths images;
    for (const auto& [extension, kind] : kinds_) {
      if (CookerOf(extension) != "texture") continue;
      images.insert(kind.all.begin(), kind.all.end());
      for (const Known& file : kind.files) {
        const Decision& decision = file.judged->decision;
        if (decision.action != Action::kCook || decision.settings.empty()) continue;
        const auto found = relations_.endings.find(file.judged->file.path);
        Ending& ending = endings[found == relations_.endings.end() ? "" : found->second];
        ending.extensions.emplace(file.path.substr(file.path.size() - kind.extension.size()));
        ending.chosen[decision.settings].insert(file.path);
        ending.reasons[decision.settings] = decision.reason;
      }
    }
    // Endings whose images are all of one use share a rule.
    struct Shared {
      std::string settings;
      Paths extensions;
      bool is_whole_name;
      auto operator<=>(const Shared&) const = default;
    };
    std::map<Shared, Paths> shared;
    std::map<std::string, std::string> reasons;
    std::vector<SuggestedRule> named;
    for (auto& [end, ending] : endings) {
      reasons.insert(ending.reasons.begin(), ending.reasons.end());
      const bool is_whole_name = end.starts_with('/');
      const std::string stem_end = end.substr(is_whole_name ? 1 : 0);
      Paths all;
      for (const std::string& path : images) {
        const size_t dot = path.rfind('.');
        if (std::string_view(path).substr(0, dot).ends_with(end) &&
            ending.extensions.contains(path.substr(dot + 1)))
          all.insert(path);
      }
      const bool is_one_use = ending.chosen.size() == 1 &&
                              ending.chosen.begin()->second.size() == all.size() && !end.empty();
      if (is_one_use) {
        shared[{ending.chosen.begin()->first, ending.extensions, is_whole_name}].insert(
            AsGlob(stem_end));
        continue;
      }
      const std::string names =
          (is_whole_name ? "" : "*") + AsGlob(stem_end) + "." + Braces(ending.extensions);
      for (const auto& [settings, paths] : ending.chosen) {
        for (std::string& glob : Cover(all, paths, names))
          named.push_back({std::move(glob), "", settings, ""});
      }
    }
    for (const auto& [key, ends] : shared) {
      const auto& [settings, extensions, is_whole_name] = key;
      made_.rules.push_back(
          {prefix_ + (is_whole_name ? "" : "*") + Braces(ends) + "." + Braces(extensions), "",
           settings, Sentence(reasons[settings])});
    }
    std::ranges::stable_sort(named, [](const SuggestedRule& a, const SuggestedRule& b) {
      return a.settings < b.settings;
    });
    std::string last;
    for (SuggestedRule& rule : named) {
      if (rule.settings != last) rule.comment = Sentence(reasons[rule.settings] + ", by name");
      last = rule.settings;
      made_.rules.push_back(std::move(rule));
    }
  }

  static std::string Sentence(std::string text) {
    if (!text.empty() && text[0] >= 'a' && text[0] <= 'z')
      text[0] = static_cast<char>(text[0] - 'a' + 'A');
    return text + ".";
  }

  void WriteNamed(const CookerAndReason& key, std::vector<std::string>& globs) {
    const auto& [cooker, reason] = key;
    std::string comment = cooker == "copy" ? "Copied: " + reason + "." : Sentence(reason);
    for (std::string& glob : globs) {
      made_.rules.push_back({std::move(glob), cooker, SettingsOf(cooker), comment});
      comment.clear();
    }
  }

  const std::vector<Root>& roots_;
  const Relations& relations_;
  std::string prefix_;
  std::map<std::string, Kind> kinds_;
  Paths all_;
  std::map<std::string, size_t> names_;       // file name -> files
  std::map<std::string, size_t> names_left_;  // file name -> files that are left out
  std::map<std::string, Paths> general_;      // cooker -> extensions
  Paths licences_;                            // file names
  std::map<CookerAndReason, std::vector<std::string>> without_extension_;
  std::map<CookerAndReason, std::vector<std::string>> exceptions_;
  std::map<std::string, std::vector<std::string>> read_;  // reason -> globs
  std::map<std::string, Paths> ignored_;                  // comment -> globs
  SuggestedRules made_;
};

}  // namespace

SuggestedRules MakeRules(const std::vector<Root>& roots, const std::vector<Judged>& files,
                         const std::vector<Omission>& omissions, const Relations& relations) {
  return RuleMaker(roots, files, relations).MakeAll(omissions);
}

}  // namespace galley::init

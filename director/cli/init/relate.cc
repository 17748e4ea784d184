#include "director/cli/init/relate.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "common/content/name.h"
#include "director/cli/init/data_images.h"
#include "director/cli/init/include_finder.h"
#include "director/cli/init/mask_groups.h"
#include "director/cli/init/name_rules.h"
#include "director/cli/init/texture_names.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace galley::init {
namespace {

using Names = std::set<std::string, std::less<>>;
using Groups = std::map<std::string, std::vector<const Judged*>>;

class Relater {
 public:
  Relater(const std::vector<Root>& roots, const std::map<std::string, std::string>& links,
          std::vector<Judged>& files, Looker* looker)
      : roots_(roots), links_(links), files_(files), looker_(looker) {
    for (Judged& file : files_) {
      by_path_[file.file.path] = &file;
      for (std::string_view folder = FolderOf(file.file.path); !folder.empty();
           folder = FolderOf(folder)) {
        if (!folders_.emplace(folder).second) break;
      }
    }
  }

  Relations Relate() {
    for (Judged& file : files_) LeaveOutWhatIsOutside(file);
    JudgeShaders();
    for (Judged& file : files_) LeaveOutWhatIsBuilt(file);
    for (const Judged& file : files_) TakeReferences(file);
    UseTextures();
    return std::move(relations_);
  }

 private:
  Judged* FindFile(std::string_view path) const {
    const auto found = by_path_.find(path);
    return found == by_path_.end() ? nullptr : found->second;
  }

  void LeaveOutWhatIsOutside(Judged& file) {
    const std::string& path = file.file.path;
    const Root* root = RootOf(roots_, path);
    if (root == nullptr) {
      // A reason to leave it out anyway says more.
      if (file.decision.action != Action::kLeaveOut)
        file.decision = LeaveOut("outside of the mounts: add a [[mount]] if the game loads it");
      return;
    }
    const std::string_view below =
        std::string_view(path).substr(root->folder.empty() ? 0 : root->folder.size() + 1);
    const std::string_view first = below.substr(0, below.find('/'));
    if (first.size() < below.size() && !root->has_content_name && IsFolderForPeople(first)) {
      file.decision = LeaveOut(fmt::format("in the folder `{}`, which is for people", first));
      relations_.folders_left_out[root->path + "/" + std::string(first)] = file.decision.reason;
      return;
    }
    for (std::string_view at = path; !at.empty(); at = FolderOf(at)) {
      const auto link = links_.find(std::string(at));
      if (link != links_.end() && RootOf(roots_, link->second) != root)
        file.decision = LeaveOut("a link out of its mount");
    }
  }

  void LeaveOutWhatIsBuilt(Judged& file) {
    static const Names kEditors = {"import", "uid"};
    static const Names kBuilt = {"spv", "essl",  "msl", "ktx",  "ktx2", "dds",
                                 "pvr", "basis", "crn", "astc", "vtf",  "cbor"};
    if (file.decision.action == Action::kLeaveOut) return;
    const std::string extension = Extension(file.file.path);
    const std::string_view stem =
        std::string_view(file.file.path).substr(0, file.file.path.rfind('.'));
    if (kEditors.contains(extension)) {
      if (FindFile(stem) != nullptr || folders_.contains(stem))
        file.decision = LeaveOut("an editor's notes on the file beside it");
      return;
    }
    if (!kBuilt.contains(extension)) return;
    if (IsCooked(FindFile(stem)) || HasCookedSource(stem, extension == "spv"))
      file.decision = LeaveOut("built already from a source beside it, which is cooked");
  }

  static bool IsCooked(const Judged* file) {
    return file != nullptr && file->decision.action == Action::kCook;
  }

  bool HasCookedSource(std::string_view stem, bool is_shader) const {
    for (const char* extension : {".png", ".tga", ".jpg", ".jpeg", ".bmp", ".hdr"}) {
      if (!is_shader && IsCooked(FindFile(std::string(stem) + extension))) return true;
    }
    for (const char* extension : {".vert", ".frag", ".comp", ".geom", ".tesc", ".tese"}) {
      if (is_shader && IsCooked(FindFile(std::string(stem) + extension))) return true;
    }
    return false;
  }

  static bool IsShaderToCook(const Judged& file) {
    return file.decision.action == Action::kCook && file.decision.cooker == "shader" &&
           !file.is_pointer;
  }

  // By its name: of whatever language.
  static bool IsShader(const Judged& file) {
    const std::string extension = Extension(file.file.path);
    return CookerOf(extension) == "shader" || WhyCopied(extension).starts_with("a shader in");
  }

  void JudgeShaders() {
    IncludeFinder finder(roots_, files_);
    std::vector<Judged*> shaders;
    for (Judged& file : files_) {
      const bool is_copied = file.decision.action == Action::kCopy && IsShader(file);
      if (IsShaderToCook(file) || is_copied) shaders.push_back(&file);
    }
    if (looker_ != nullptr) finder.TakeOutlines(shaders, *looker_);
    std::set<std::string> included;
    CookShaders(finder, included);
    for (const std::string& path : included) {
      Judged& file = *FindFile(path);
      if (file.decision.action != Action::kCook)
        file.decision = ReadByOthers("included by shaders that are cooked");
    }
    const bool all_are_cooked = std::ranges::none_of(files_, [](const Judged& file) {
      return file.decision.action == Action::kCopy && IsShaderToCompile(file);
    });
    if (all_are_cooked && !included.empty()) {
      for (Judged& file : files_) LeaveOutPartOfShaders(file);
    }
    CopyWhatCopiesInclude(finder);
  }

  // The compiler's word counts, where there is one.
  void CookShaders(const IncludeFinder& finder, std::set<std::string>& included) {
    std::map<const Judged*, FoundIncludes> includes;
    for (const Judged& file : files_) {
      if (IsShaderToCook(file)) includes.emplace(&file, finder.FindIncludes(file));
    }
    const std::map<std::string, Look> looks = LookAtShaders(includes);
    for (Judged& file : files_) {
      if (!IsShaderToCook(file)) continue;
      const auto look = looks.find(file.file.path);
      if (look != looks.end() && !look->second.takes) {
        const std::string& reason = look->second.reason;
        file.decision =
            Copy(reason.empty() ? "no Vulkan GLSL: the shader cooker refuses it" : reason);
        continue;
      }
      relations_.wants_late_spirv |= look != looks.end() && look->second.needs_late_spirv;
      const FoundIncludes& found = includes.at(&file);
      relations_.include_folders.insert(found.folders.begin(), found.folders.end());
      included.insert(found.files.begin(), found.files.end());
    }
  }

  std::map<std::string, Look> LookAtShaders(
      const std::map<const Judged*, FoundIncludes>& includes) const {
    if (looker_ == nullptr) return {};
    LookAsk ask{.paths = {}, .cooker = "shader", .mounts = Mounts()};
    std::set<std::string> folders;
    for (const Judged& file : files_) {
      const auto found = includes.find(&file);
      if (found == includes.end()) continue;
      ask.paths.push_back(file.file.path);
      folders.insert(found->second.folders.begin(), found->second.folders.end());
    }
    ask.settings = nlohmann::json{{"include_dirs", folders}}.dump();
    return looker_->LookAt(ask);
  }

  std::vector<std::pair<std::string, std::string>> Mounts() const {
    std::vector<std::pair<std::string, std::string>> mounts;
    for (const Root& root : roots_) mounts.emplace_back(root.path, root.folder);
    return mounts;
  }

  static bool IsShaderToCompile(const Judged& file) {
    return IsShader(file) && file.outline.has_main;
  }

  // No shader that the game compiles itself is there, so that nobody needs the part at run time.
  static void LeaveOutPartOfShaders(Judged& file) {
    if (file.decision.action == Action::kCopy && Extension(file.file.path) == "glsl" &&
        !IsShaderToCompile(file))
      file.decision = ReadByOthers("a part of shaders: it has no main()");
  }

  // A shader that is copied is compiled by the game, which must find its includes.
  void CopyWhatCopiesInclude(const IncludeFinder& finder) {
    std::set<std::string> included;
    for (const Judged& file : files_) {
      if (file.decision.action != Action::kCopy || !IsShader(file)) continue;
      const FoundIncludes found = finder.FindIncludes(file);
      included.insert(found.files.begin(), found.files.end());
    }
    for (const std::string& path : included) {
      Judged& file = *FindFile(path);
      if (file.decision.action == Action::kLeaveOut || file.decision.action == Action::kRead)
        file.decision = Copy("included by shaders that are copied");
    }
  }

  // A relative or virtual path as it is written in `from`.
  Judged* FindReferred(const Judged& from, const std::string& written) const {
    const Root* root = RootOf(roots_, from.file.path);
    const auto asked = content::NormalizeAsked(written);
    if (root == nullptr || !asked.ok()) return nullptr;
    const auto path = content::ResolveAsked(VirtualPath(*root, from.file.path), *asked);
    if (!path.ok()) return nullptr;
    for (const Root& each : roots_) {
      if (!content::IsUnder(*path, each.path) || path->size() == each.path.size()) continue;
      const std::string below = path->substr(each.path.size() + 1);
      return FindFile(each.folder.empty() ? below : each.folder + "/" + below);
    }
    return nullptr;
  }

  void TakeReferences(const Judged& file) {
    if (file.decision.action != Action::kCook) return;
    for (const std::string& buffer : file.outline.reads) {
      Judged* found = FindReferred(file, buffer);
      if (found != nullptr && found != &file)
        found->decision = ReadByOthers("buffers of glTF: its GLB holds them");
    }
    for (const std::string& reference : file.outline.references)
      MakePackage(FindReferred(file, reference));
  }

  static void MakePackage(Judged* file) {
    if (file == nullptr) return;
    if (file->decision.action == Action::kLeaveOut || file->decision.action == Action::kRead)
      file->decision = Copy("a package that is cooked refers to it");
  }

  void UseTextures() {
    std::map<const Judged*, std::set<TextureUse>> slots;
    for (const Judged& file : files_) {
      if (file.decision.action != Action::kCook) continue;
      for (const GltfImage& image : file.outline.images)
        slots[FindReferred(file, image.path)].insert(image.use);
    }
    std::vector<const Judged*> images;
    for (const Judged& file : files_) {
      if (IsCooked(&file) && file.decision.cooker == "texture") images.push_back(&file);
    }
    std::map<std::string, NamedTexture> named = FindTextureUses(images);
    const Groups groups = FindMaskGroups(WithoutName(images, named));
    const std::map<std::string, Look> looks = LookAtImages(images, named, groups);
    relations_.images = images.size();
    relations_.images_decoded = looks.size();
    for (const auto& [word, group] : groups) {
      if (!AreMasks(word, group, looks)) continue;
      for (const Judged* image : group)
        named[image->file.path] = {NamedUse::kPacked, LastWord(image->file.path)};
    }
    const DataImages data = FindDataImages(images, looks);
    for (Judged& file : files_) {
      if (!IsCooked(&file) || file.decision.cooker != "texture") continue;
      const auto by_name = named.find(file.file.path);
      const NamedTexture* const name = by_name == named.end() ? nullptr : &by_name->second;
      const auto look = looks.find(file.file.path);
      if (const auto by_slot = slots.find(&file); by_slot != slots.end()) {
        UseBySlots(by_slot->second, file);
      } else if (data.certain.contains(file.file.path) &&
                 (look == looks.end() || look->second.takes)) {
        UseAsData(file);
      } else if (look != looks.end()) {
        UseByPixels(look->second, name, file);
      } else if (name != nullptr) {
        UseByName(name->use, looker_ == nullptr ? "" : ", by name: it was not decoded", file);
      }
      if (file.decision.settings.empty() && data.doubtful.contains(file.file.path))
        relations_.may_be_data.push_back(file.file.path);
      if (!file.decision.settings.empty() && name != nullptr)
        relations_.endings.emplace(file.file.path, name->ending);
    }
    ShareLastWords();
  }

  static std::vector<const Judged*> WithoutName(const std::vector<const Judged*>& images,
                                                const std::map<std::string, NamedTexture>& named) {
    std::vector<const Judged*> others;
    std::copy_if(images.begin(), images.end(), std::back_inserter(others),
                 [&](const Judged* image) { return !named.contains(image->file.path); });
    return others;
  }

  // Every level has such an image: a rule for the whole name takes all of them.
  void UseAsData(Judged& file) {
    file.decision.settings = kDataSettings;
    file.decision.reason =
        "grids of data, as their pixels, sizes and equal names tell: kept without loss (or use "
        "`copy`, if the game reads the image file itself)";
    relations_.endings[file.file.path] = "/" + std::string(StemOf(file.file.path));
  }

  // Images with a use whose names suggest none may still end alike.
  void ShareLastWords() {
    std::map<std::string, std::vector<std::string>> by_word;
    for (const Judged& file : files_) {
      const std::string& path = file.file.path;
      if (file.decision.settings.empty() || relations_.endings.contains(path)) continue;
      if (std::string word = LastWord(path); !word.empty()) by_word[word].push_back(path);
    }
    for (const auto& [word, paths] : by_word) {
      if (paths.size() < 2) continue;
      for (const std::string& path : paths) relations_.endings[path] = word;
    }
  }

  // Names only say which images are worth a look, where not all are looked at.
  std::map<std::string, Look> LookAtImages(const std::vector<const Judged*>& images,
                                           const std::map<std::string, NamedTexture>& named,
                                           const Groups& groups) const {
    if (looker_ == nullptr) return {};
    std::vector<const Judged*> order;
    for (const Judged* image : images) {
      if (!image->is_pointer) order.push_back(image);
    }
    std::set<const Judged*> samples;
    AddSamples(groups, samples);
    AddSamples(FindFilesOfLevels(images), samples);
    const auto rank = [&](const Judged* image) {
      const int name = named.contains(image->file.path) ? 0
                       : MayBeNormals(image->file.path) ? 1
                       : samples.contains(image)        ? 2
                                                        : 3;
      return std::tuple(name, image->file.size_bytes);
    };
    std::ranges::stable_sort(order,
                             [&](const Judged* a, const Judged* b) { return rank(a) < rank(b); });
    order.resize(std::min(order.size(), kImagesLookedAtMax));
    LookAsk ask{.paths = {}, .cooker = "texture", .mounts = Mounts()};
    for (const Judged* image : order) ask.paths.push_back(image->file.path);
    return looker_->LookAt(ask);
  }

  // The smallest of each group: enough to tell what the others are.
  static void AddSamples(const Groups& groups, std::set<const Judged*>& samples) {
    constexpr size_t kSamples = 8;
    for (const auto& [name, group] : groups) {
      std::vector<const Judged*> sorted = group;
      std::ranges::stable_sort(sorted, [](const Judged* a, const Judged* b) {
        return a->file.size_bytes < b->file.size_bytes;
      });
      sorted.resize(std::min(sorted.size(), kSamples));
      samples.insert(sorted.begin(), sorted.end());
    }
  }

  // "waternormals2.jpg": its name decides nothing, and makes it worth a look.
  static bool MayBeNormals(std::string_view path) {
    const std::string name = InLowerCase(FileName(path));
    return name.find("norm") != std::string::npos || name.find("nrm") != std::string::npos ||
           name.find("bump") != std::string::npos;
  }

  static void UseBySlots(const std::set<TextureUse>& uses, Judged& file) {
    if (uses.contains(TextureUse::kColor)) return;
    const bool is_normal = uses.contains(TextureUse::kNormal) && uses.size() == 1;
    UseByName(is_normal ? NamedUse::kNormal : NamedUse::kPacked, ", as a glTF material says", file);
  }

  // `name` may be null: the name suggests nothing.
  void UseByPixels(const Look& look, const NamedTexture* name, Judged& file) {
    const bool is_named_normal = name != nullptr && name->use == NamedUse::kNormal;
    // A single channel cannot hold what differs in three, nor what is in alpha.
    const bool is_one = look.pixels == "grey" && !look.has_alpha;
    if (!look.takes) {
      file.decision = Copy("an image that the texture cooker refuses: " + look.reason);
    } else if (look.pixels == "normal" || (is_named_normal && look.pixels == "like-normal")) {
      UseByName(NamedUse::kNormal, ", by their pixels", file);
    } else if (is_named_normal && look.pixels == "two-channel-normal") {
      file.decision.settings = "color_space = \"linear\"";
      file.decision.reason =
          "normal maps without z: x and y are read as numbers, all channels kept";
    } else if (is_named_normal) {
      relations_.named_only.push_back(file.file.path);
    } else if (name != nullptr && (is_one || !name->must_be_one)) {
      UseByName(is_one ? NamedUse::kMask : NamedUse::kPacked, ", by name and pixels", file);
    }
  }

  static void UseByName(NamedUse use, std::string_view how, Judged& file) {
    switch (use) {
      case NamedUse::kNormal:
        file.decision.settings = "usage = \"normal\"";
        file.decision.reason = fmt::format("normal maps{}: two channels, read as numbers", how);
        return;
      case NamedUse::kMask:
        file.decision.settings = "usage = \"mask\"";
        file.decision.reason = fmt::format(
            "masks, one quantity each{}: read as numbers, one channel where BC is", how);
        return;
      case NamedUse::kPacked:
        file.decision.settings = "color_space = \"linear\"";
        file.decision.reason =
            fmt::format("masks of several channels{}: read as numbers, all channels kept", how);
        return;
    }
  }

  const std::vector<Root>& roots_;
  const std::map<std::string, std::string>& links_;
  std::vector<Judged>& files_;
  Looker* const looker_;  // may be null
  std::map<std::string, Judged*, std::less<>> by_path_;
  Names folders_;
  Relations relations_;
};

}  // namespace

Relations Relate(const std::vector<Root>& roots, const std::map<std::string, std::string>& links,
                 std::vector<Judged>& files, Looker* looker) {
  return Relater(roots, links, files, looker).Relate();
}

}  // namespace galley::init

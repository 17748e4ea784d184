// SuggestProjectFile: the galley.toml that `galley init` writes.
#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>

#include "common/base/file.h"
#include "common/content/name.h"
#include "common/project/project.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace galley::project {
namespace {

namespace fs = std::filesystem;

constexpr size_t kFilesLookedAtMax = 200'000;
constexpr size_t kExtensionsMax = 64;

struct Kind {
  std::string_view cooker;
  std::string_view comment;
  std::set<std::string, std::less<>> extensions;
  std::string_view hints = {};  // lines after the rule
};

const std::vector<Kind>& Kinds() {
  static const std::vector<Kind> kinds = {
      {"texture",
       "Images become KTX2 in the platform's texture family.",
       {"bmp", "hdr", "jpeg", "jpg", "png", "tga"},
       "# settings = { color_space = \"linear\" }\n"
       "# platform.android.settings = { block = \"6x6\" }\n"},
      {"audio",
       "Sounds become Ogg Opus, or Vorbis; loop points are kept.",
       {"flac", "ogg", "wav"},
       "# settings = { codec = \"vorbis\", bitrate = 96000 }\n"},
      {"shader",
       "GLSL becomes what the platform's `shader` says. Includes need no rule: they are read, not "
       "cooked.",
       {"comp", "frag", "geom", "tesc", "tese", "vert"}},
      {"mesh",
       "glTF becomes GLB: optimised, quantised, its textures taken out; they need rules of their "
       "own.",
       {"glb", "gltf"},
       "# settings = { lods = [0.5, 0.25] }\n"},
      {"data", "JSON becomes CBOR; {\"$ref\": \"...\"} in it is a reference.", {"json"}},
      {"data",
       "Materials are JSON that refers to textures and shaders: {\"$ref\": \"brick.png\"}.",
       {"material"}},
      {"data",
       "Levels are JSON; with a cell_size their `items` are split by position into packages of "
       "their own.",
       {"level"},
       "# settings = { cell_size = 64 }\n"},
  };
  return kinds;
}

// Read by others' cooks or by people; no packages.
bool IsNoPackage(std::string_view extension) {
  static const std::set<std::string, std::less<>> known = {
      "blend", "blend1", "cook", "glsl", "h", "inc", "md", "psd", "toml", "xcf"};
  return extension.empty() || known.contains(extension);
}

bool IsPlain(std::string_view extension) {
  return extension.size() <= 16 && std::all_of(extension.begin(), extension.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '_' || c == '-';
         });
}

std::string ContentFolder(const std::string& directory) {
  for (const char* name : {"content", "Content", "assets", "Assets"}) {
    std::error_code error;
    if (fs::is_directory(JoinPath(directory, name), error)) return name;
  }
  return ".";
}

// Extensions as they are written, by kind (nullptr: of none).
std::map<const Kind*, std::set<std::string>> FindExtensions(const std::string& folder) {
  std::map<const Kind*, std::set<std::string>> found;
  std::error_code error;
  fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, error);
  size_t looked_at = 0;
  for (; !error && at != fs::recursive_directory_iterator() && looked_at < kFilesLookedAtMax;
       at.increment(error)) {
    ++looked_at;
    const std::string name = at->path().filename().string();
    std::error_code ignored;
    if (name.starts_with('.')) {
      at.disable_recursion_pending();
      continue;
    }
    if (!at->is_regular_file(ignored)) continue;
    const std::string extension = content::ExtensionOf(name);
    if (IsNoPackage(extension) || !IsPlain(extension)) continue;
    const auto kind = std::find_if(Kinds().begin(), Kinds().end(), [&](const Kind& each) {
      return each.extensions.contains(extension);
    });
    std::set<std::string>& extensions = found[kind == Kinds().end() ? nullptr : &*kind];
    if (extensions.size() < kExtensionsMax)
      extensions.insert(name.substr(name.size() - extension.size()));
  }
  return found;
}

std::string RuleText(std::string_view comment, std::string_view cooker,
                     const std::set<std::string>& extensions) {
  const std::string list = extensions.size() == 1
                               ? *extensions.begin()
                               : fmt::format("{{{}}}", fmt::join(extensions, ","));
  return fmt::format("\n# {}\n[[rule]]\nmatch = \"/Game/**/*.{}\"\ncooker = \"{}\"\n", comment,
                     list, cooker);
}

constexpr std::string_view kHead =
    R"(# The project file of Galley; docs/project-file.md explains every key.
# `galley cook` cooks what is here, `galley doctor` says where each value comes from.

[project]
name = "{}"

[scan]
# Never looked at, beside .galley, .git .svn .hg .p4*, Thumbs.db, .DS_Store and *~.
ignore = [{}]

# Virtual path <- folder. Another mount at the same path with a higher priority is a mod.
[[mount]]
path = "/Game"
dir = "{}"

[[platform]]
name = "windows"
texture = "bc"            # bc | astc | rgba8
shader = "spirv-1.5"      # spirv-1.x | essl-310 | msl-2.x

[[platform]]
name = "android"
texture = "astc"
shader = "essl-310"

# Rules say which files are packages and who cooks them. Later rules win; `x.png.cook` beside x.png wins over all.
)";

constexpr std::string_view kTail = R"(
[cook]
# What `galley cook` asks for when the command line names nothing; all packages when this says nothing, too.
# maps = ["/Game/maps/*.level"]
# never = ["/Game/dev/**"]
# cultures = ["en"]

[store]
dir = ".galley/store"

[output]
dir = ".galley/cooked"    # <dir>/<platform>/Game/...
)";

}  // namespace

absl::StatusOr<std::string> SuggestProjectFile(const std::string& directory) {
  const std::string root = AbsolutePath(directory);
  std::error_code error;
  if (!fs::is_directory(root, error)) {
    return absl::NotFoundError(fmt::format("{} is not a folder", root));
  }
  const std::string folder = ContentFolder(root);
  const auto found = FindExtensions(folder == "." ? root : JoinPath(root, folder));
  std::string name;
  for (const char c : fs::path(root).filename().string()) {
    name.push_back(IsPlain(std::string_view(&c, 1)) ? c : '-');
  }
  std::string text = fmt::format(fmt::runtime(kHead), name.empty() ? "game" : name,
                                 folder == "." ? "\"/Game/galley.toml\"" : "", folder);
  if (const auto others = found.find(nullptr); others != found.end()) {
    text += RuleText("Copied as they are.", "copy", others->second);
  }
  for (const Kind& kind : Kinds()) {
    const auto extensions = found.find(&kind);
    if (extensions == found.end()) continue;
    text += RuleText(kind.comment, kind.cooker, extensions->second);
    text += kind.hints;
  }
  if (found.empty()) {
    text +=
        "# Nothing to cook was found yet. For instance:\n# [[rule]]\n# match = "
        "\"/Game/**/*.png\"\n# cooker = \"texture\"\n";
  }
  return text + std::string(kTail);
}

}  // namespace galley::project

#include "director/cli/init/project_text.h"

#include <string_view>

#include "fmt/format.h"

namespace galley::init {
namespace {

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

std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

std::string IgnoreText(const std::vector<SuggestedIgnore>& ignores) {
  if (ignores.empty()) return "ignore = []\n";
  std::string text = "ignore = [\n";
  for (const SuggestedIgnore& ignore : ignores) {
    text += fmt::format("  # {}\n", ignore.comment);
    std::string line = " ";
    for (const std::string& glob : ignore.globs) {
      if (line.size() + glob.size() > 110) {
        text += line + "\n";
        line = " ";
      }
      line += " " + Quoted(glob) + ",";
    }
    text += line + "\n";
  }
  return text + "]\n";
}

std::string MountText(const std::vector<Root>& roots) {
  std::string text =
      "\n# Virtual path <- folder. Another mount at the same path with a higher priority is a "
      "mod.\n";
  for (const Root& root : roots) {
    text += fmt::format("[[mount]]\npath = {}\ndir = {}\n{}", Quoted(root.path),
                        Quoted(root.folder.empty() ? "." : root.folder),
                        &root == &roots.back() ? "" : "\n");
  }
  return text;
}

std::string PlatformText(bool wants_late_spirv) {
  return fmt::format(R"(
[[platform]]
name = "windows"
texture = "bc"            # bc | astc | rgba8
shader = "spirv-1.5"      # spirv-1.x | essl-310 | msl-2.x
os = "windows"            # packages with names that Windows cannot have fail

[[platform]]
name = "android"
texture = "astc"
shader = "{}"      # for OpenGL ES: "essl-310"
)",
                     wants_late_spirv ? "spirv-1.5" : "spirv-1.3");
}

std::string RuleText(const SuggestedRule& rule) {
  std::string text = "\n";
  if (!rule.comment.empty()) text += fmt::format("# {}\n", rule.comment);
  text += fmt::format("[[rule]]\nmatch = {}\n", Quoted(rule.match));
  if (rule.ignore_case) text += "ignore_case = true\n";
  if (!rule.cooker.empty()) text += fmt::format("cooker = {}\n", Quoted(rule.cooker));
  if (!rule.settings.empty()) text += fmt::format("settings = {{ {} }}\n", rule.settings);
  return text;
}

std::string HintOf(const SuggestedRule& rule, uint32_t texture_max_size) {
  if (!rule.settings.empty() || rule.comment.empty()) return "";
  if (rule.cooker == "texture") {
    const std::string smaller =
        texture_max_size == 0 ? "" : fmt::format(", max_size = {}, zstd = 9", texture_max_size);
    return fmt::format(
        "# settings = {{ mipmaps = false{} }}\n# platform.android.settings = {{ block = \"8x8\" "
        "}}\n",
        smaller);
  }
  if (rule.cooker == "audio") return "# settings = { codec = \"vorbis\", bitrate = 96000 }\n";
  if (rule.cooker == "mesh") return "# settings = { lods = [0.5, 0.25] }\n";
  if (rule.cooker == "data" && rule.match.find("level") != std::string::npos)
    return "# A level's `items` can be cut by position: settings = { cell_size = 64 }\n";
  return "";
}

}  // namespace

std::string ProjectText(const ProjectTextOptions& options) {
  std::string text = fmt::format(
      "# The project file of Galley; docs/project-file.md explains every key.\n"
      "# `galley cook` cooks what is here, `galley doctor` says where each value comes from.\n\n"
      "[project]\nname = {}\n\n"
      "[scan]\n"
      "# Never looked at, beside .galley, .git .svn .hg .p4*, Thumbs.db, .DS_Store and *~.\n",
      Quoted(options.name));
  text += IgnoreText(options.rules.ignores);
  text += MountText(options.roots);
  text += PlatformText(options.wants_late_spirv);
  text +=
      "\n# Rules say which files are packages and who cooks them. Later rules win; `x.png.cook` "
      "beside x.png wins over all.\n";
  for (const SuggestedRule& rule : options.rules.rules) {
    text += RuleText(rule);
    text += HintOf(rule, options.texture_max_size);
  }
  if (options.rules.rules.empty()) {
    text +=
        "# Nothing to cook was found yet. For instance:\n# [[rule]]\n# match = "
        "\"/Game/**/*.png\"\n# cooker = \"texture\"\n";
  }
  return text + std::string(kTail);
}

}  // namespace galley::init

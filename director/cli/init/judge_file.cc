#include "director/cli/init/judge_file.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "common/content/lfs_pointer.h"
#include "director/cli/init/name_rules.h"
#include "fmt/format.h"

namespace galley::init {
namespace {

using std::string_view_literals::operator""sv;

constexpr size_t kHeadBytes = 4 << 10;
// So many answers are held at a time.
constexpr size_t kOutlinesAtOnce = 20'000;

std::string_view WhyCooked(std::string_view cooker) {
  if (cooker == "texture") return "images: KTX2 in the platform's texture family";
  if (cooker == "audio") return "sounds: Ogg Opus";
  if (cooker == "shader") return "Vulkan GLSL: what the platform's `shader` says";
  if (cooker == "mesh") return "glTF 2.0: a GLB that is optimised and quantised";
  return "JSON: CBOR";
}

bool IsPe(std::string_view head) {
  if (!head.starts_with("MZ") || head.size() < 64) return false;
  const size_t at = static_cast<uint8_t>(head[60]) | size_t{static_cast<uint8_t>(head[61])} << 8;
  return head.substr(std::min(head.size(), at)).starts_with("PE\0\0"sv);
}

bool IsMachO(std::string_view head) {
  return head.starts_with("\xfe\xed\xfa\xce") || head.starts_with("\xfe\xed\xfa\xcf") ||
         head.starts_with("\xce\xfa\xed\xfe") || head.starts_with("\xcf\xfa\xed\xfe");
}

// The kind of a program or of a compiler's output; "" for all other files.
std::string_view ProgramKind(std::string_view head) {
  if (head.starts_with("\x7f"
                       "ELF"))
    return "a program, library or object file (ELF)";
  if (IsPe(head)) return "a program or library (PE)";
  if (IsMachO(head)) return "a program, library or object file (Mach-O)";
  // A universal binary, or a class of Java.
  if (head.starts_with("\xca\xfe\xba\xbe"sv)) return "a program or a class (Mach-O, Java)";
  if (head.starts_with("!<arch>\n")) return "a library of object files (ar)";
  return "";
}

// The notes of an editor and the output of a compiler that only the bytes give away; "": it is
// neither.
std::string_view WhyLeftOut(const std::string& extension, std::string_view head) {
  if (const std::string_view program = ProgramKind(head); !program.empty()) return program;
  if (extension == "meta" && head.find("guid:") != std::string_view::npos)
    return "written by Unity's editor";
  // Godot's notes on a file, whose name says which; it may be gone.
  if ((extension == "import" && head.starts_with("[remap]")) ||
      (extension == "uid" && head.starts_with("uid://")))
    return "written by Godot's editor";
  // Object files of Windows share their extension with models.
  // Source: PE Format, COFF header.
  const bool is_coff = head.starts_with("\x64\x86"sv) || head.starts_with("\x4c\x01"sv);
  return extension == "obj" && is_coff ? "made by a compiler" : "";
}

Judged JudgeByName(const Tree& tree, const File& file) {
  Judged judged{.file = file, .decision = {}, .outline = {}};
  if (auto decided = DecideByName(file.path); decided.has_value()) {
    judged.decision = *std::move(decided);
    return judged;
  }
  const auto head = tree.Read(file.path, kHeadBytes);
  if (!head.ok()) {
    judged.decision = LeaveOut("a file that cannot be read");
    return judged;
  }
  const std::string extension = Extension(file.path);
  const std::string_view cooker = CookerOf(extension);
  const std::string_view why_left_out = WhyLeftOut(extension, *head);
  judged.is_pointer = content::IsLfsPointer(*head);
  if (!why_left_out.empty()) {
    judged.decision = LeaveOut(std::string(why_left_out));
  } else if (cooker.empty()) {
    judged.decision = Copy(std::string(WhyCopied(extension)));
  } else {
    judged.decision = CookBy(std::string(cooker), std::string(WhyCooked(cooker)));
  }
  return judged;
}

// A shader needs its includes, which Relate finds.
bool IsOutlined(const Judged& file) {
  return file.decision.action == Action::kCook && file.decision.cooker != "shader" &&
         !file.is_pointer;
}

void TakeOutline(Look outline, Judged& file) {
  const auto is_elsewhere = [](const std::string& path) {
    return path.starts_with('#') || path.find("://") != std::string::npos;
  };
  if (!outline.takes) {
    file.decision = Copy(outline.reason);
  } else if (std::ranges::any_of(outline.references, is_elsewhere)) {
    file.decision = Copy("a JSON schema: its $ref means another thing than Galley's");
  }
  file.outline = std::move(outline);
}

// Many different reasons would be as many lines of the table, and rules.
void ShareReasons(std::vector<Judged>& files) {
  constexpr size_t kReasonsMax = 8;
  const auto is_refused = [](const Judged& file) {
    return file.decision.action == Action::kCopy && !file.outline.reason.empty();
  };
  std::map<std::string, std::set<std::string>> reasons;
  for (const Judged& file : files) {
    if (is_refused(file)) reasons[Extension(file.file.path)].insert(file.decision.reason);
  }
  for (Judged& file : files) {
    const std::string extension = Extension(file.file.path);
    if (is_refused(file) && reasons[extension].size() > kReasonsMax)
      file.decision.reason = fmt::format("the {} cooker refuses it", CookerOf(extension));
  }
}

}  // namespace

bool MayBeIncluded(const std::string& path) {
  static const std::set<std::string, std::less<>> extensions = {
      "glsl", "vert",  "frag",  "comp", "geom", "tesc", "tese",  "h",    "hpp",   "inc",
      "inl",  "glslh", "glsli", "vs",   "fs",   "txt",  "slang", "hlsl", "hlsli", "fxh"};
  return extensions.contains(Extension(path));
}

std::vector<Judged> JudgeFiles(const Tree& tree, const std::vector<File>& files, Looker* looker) {
  std::vector<Judged> all;
  all.reserve(files.size());
  for (const File& file : files) all.push_back(JudgeByName(tree, file));
  std::vector<Judged*> wanted;
  for (Judged& file : all) {
    if (looker != nullptr && IsOutlined(file)) wanted.push_back(&file);
  }
  for (size_t begin = 0; begin < wanted.size(); begin += kOutlinesAtOnce) {
    const size_t end = std::min(begin + kOutlinesAtOnce, wanted.size());
    LookAsk ask{.paths = {}, .is_outline = true};
    for (size_t i = begin; i < end; ++i) ask.paths.push_back(wanted[i]->file.path);
    std::map<std::string, Look> outlines = looker->LookAt(ask);
    for (size_t i = begin; i < end; ++i) {
      const auto found = outlines.find(wanted[i]->file.path);
      if (found != outlines.end()) TakeOutline(std::move(found->second), *wanted[i]);
    }
  }
  ShareReasons(all);
  return all;
}

}  // namespace galley::init

#include "director/cli/init/judge_file.h"

#include <set>
#include <utility>

#include "common/content/lfs_pointer.h"
#include "director/cli/init/file_bytes.h"
#include "director/cli/init/name_rules.h"
#include "director/cli/init/shader_source.h"
#include "fmt/format.h"

namespace galley::init {
namespace {

constexpr size_t kJsonBytesMax = 64 << 20;
constexpr size_t kShaderBytesMax = 1 << 20;

Decision CookOrCopy(std::string_view cooker, std::string_view why, const std::string& why_not) {
  if (why_not.empty()) return CookBy(std::string(cooker), std::string(why));
  return Copy(why_not);
}

std::string_view WhyCooked(std::string_view cooker) {
  if (cooker == "texture") return "images: KTX2 in the platform's texture family";
  if (cooker == "audio") return "sounds: Ogg Opus";
  if (cooker == "shader") return "Vulkan GLSL: what the platform's `shader` says";
  if (cooker == "mesh") return "glTF 2.0: a GLB that is optimised and quantised";
  return "JSON: CBOR";
}

void ReadMesh(const Tree& tree, const File& file, Judged& judged) {
  const auto bytes = tree.Read(file.path, kJsonBytesMax);
  if (!bytes.ok()) return;
  GltfFacts facts = ReadGltf(*bytes);
  judged.buffers = std::move(facts.buffers);
  judged.images = std::move(facts.images);
  judged.decision = CookOrCopy("mesh", WhyCooked("mesh"), facts.why_not);
}

void ReadData(const Tree& tree, const File& file, Judged& judged) {
  const auto bytes = tree.Read(file.path, kJsonBytesMax);
  if (!bytes.ok() || bytes->size() < file.size_bytes) return;
  JsonFacts facts = ReadJson(*bytes);
  judged.references = std::move(facts.references);
  judged.decision = CookOrCopy("data", WhyCooked("data"), facts.why_not);
}

void ReadShader(const Tree& tree, const File& file, Judged& judged) {
  if (file.size_bytes > kShaderBytesMax) return;
  const auto bytes = tree.Read(file.path, kShaderBytesMax);
  if (bytes.ok()) judged.shader_text = WithoutComments(*bytes);
}

}  // namespace

bool MayBeIncluded(const std::string& path) {
  static const std::set<std::string, std::less<>> extensions = {
      "glsl", "vert",  "frag",  "comp", "geom", "tesc", "tese",  "h",    "hpp",   "inc",
      "inl",  "glslh", "glsli", "vs",   "fs",   "txt",  "slang", "hlsl", "hlsli", "fxh"};
  return extensions.contains(Extension(path));
}

Judged JudgeFile(const Tree& tree, const File& file) {
  Judged judged{.file = file};
  const std::string extension = Extension(file.path);
  const std::string_view cooker = CookerOf(extension);
  if (MayBeIncluded(file.path)) ReadShader(tree, file, judged);
  if (auto decided = DecideByName(file.path); decided.has_value()) {
    judged.decision = *std::move(decided);
    return judged;
  }
  const auto head = tree.Read(file.path, kHeadBytes);
  if (!head.ok()) {
    judged.decision = LeaveOut("a file that cannot be read");
    return judged;
  }
  if (const std::string_view program = ProgramKind(*head); !program.empty()) {
    judged.decision = LeaveOut(std::string(program));
    return judged;
  }
  judged.decision = cooker.empty() ? Copy(std::string(WhyCopied(extension)))
                                   : CookBy(std::string(cooker), std::string(WhyCooked(cooker)));
  if (judged.is_pointer = content::IsLfsPointer(*head); judged.is_pointer) return judged;
  if (cooker == "texture") {
    judged.is_grey = IsGreyImage(extension, *head);
    judged.image_size = ReadImageSize(extension, *head);
    judged.cannot_be_normals = CannotBeNormalMap(extension, *head);
    judged.decision = CookOrCopy(cooker, WhyCooked(cooker), WhyNoTexture(extension, *head));
  } else if (cooker == "audio") {
    judged.decision = CookOrCopy(cooker, WhyCooked(cooker), WhyNoSound(extension, *head));
  } else if (cooker == "mesh") {
    ReadMesh(tree, file, judged);
  } else if (cooker == "data") {
    ReadData(tree, file, judged);
  }
  if (extension == "meta" && head->find("guid:") != std::string::npos)
    judged.decision = LeaveOut("written by Unity's editor");
  // Godot's notes on a file, whose name says which; it may be gone.
  if ((extension == "import" && head->starts_with("[remap]")) ||
      (extension == "uid" && head->starts_with("uid://")))
    judged.decision = LeaveOut("written by Godot's editor");
  // Object files of Windows share their extension with models.
  // Source: PE Format, COFF header.
  const bool is_coff = head->starts_with(std::string_view("\x64\x86", 2)) ||
                       head->starts_with(std::string_view("\x4c\x01", 2));
  if (extension == "obj" && is_coff) judged.decision = LeaveOut("made by a compiler");
  return judged;
}

}  // namespace galley::init

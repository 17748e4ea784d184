#include "worker/cookers/shader/glsl_outline.h"

#include <charconv>
#include <utility>

#include "fmt/format.h"
#include "worker/cookers/shader/glsl_scanner.h"

namespace galley::worker {
namespace {

constexpr std::string_view kOtherLanguage = "not GLSL but another language, such as HLSL";
constexpr std::string_view kOldWords =
    "GLSL of OpenGL: words that Vulkan has not, such as varying or gl_FragColor";

// A part of the compiler's messages, and its meaning. The first part that is found counts.
struct Meaning {
  std::string_view message;
  std::string_view flaw;
};
constexpr Meaning kMeanings[] = {
    {"requires layout(binding", "GLSL of OpenGL: a sampler or image has no layout(binding)"},
    {"uniforms outside a block", "GLSL of OpenGL: a uniform is in no block"},
    {"requires location", "GLSL of OpenGL: an input or output has no layout(location)"},
    {"extension not supported", "GLSL with an extension that the cooker's compiler does not know"},
    {"'attribute", kOldWords},
    {"'varying", kOldWords},
    {"'gl_", kOldWords},
    {"'ftransform", kOldWords},
    {"'texture2D", kOldWords},
    {"'sampler/image' : cannot construct", kOldWords},  // in Vulkan texture2D is a type
    {"'texture3D", kOldWords},
    {"'textureCube", kOldWords},
    {"'shadow2D", kOldWords},
};

using Tokens = std::vector<std::string_view>;

// The name in the quotation marks of an #include; "": there is none.
std::string NameIn(const Tokens& line) {
  std::string name;
  if (line.size() < 2 || (line[1] != "\"" && line[1] != "<")) return name;
  const std::string_view close = line[1] == "<" ? ">" : "\"";
  for (size_t i = 2; i < line.size(); ++i) {
    if (line[i] == close) return name;
    name += line[i];
  }
  return "";
}

void TakeDirective(const Tokens& line, GlslOutline& outline) {
  if (line.empty()) return;
  if (line[0] == "include") {
    if (std::string name = NameIn(line); !name.empty()) outline.includes.push_back(std::move(name));
  } else if (line[0] == "version" && outline.version.empty() && line.size() > 1) {
    outline.version = line[1];
    if (line.size() > 2) outline.profile = line[2];
  }
}

// Whether a text has words of HLSL, and no directive that GLSL begins with.
bool LooksLikeHlsl(std::string_view text) {
  if (text.find("#version") != std::string_view::npos) return false;
  for (const std::string_view word :
       {"cbuffer", "float4", "SV_", "register(", "StructuredBuffer"}) {
    if (text.find(word) != std::string_view::npos) return true;
  }
  return false;
}

std::string FindVersionFlaw(const GlslOutline& outline) {
  if (outline.version.empty()) return "";
  int number = 0;
  std::from_chars(outline.version.data(), outline.version.data() + outline.version.size(), number);
  const bool is_es = outline.profile == "es" || number == 100;
  if (is_es && number < 310)
    return fmt::format("GLSL ES of #version {}: Vulkan takes 310 es and later", outline.version);
  if (!is_es && number < 140)
    return fmt::format("GLSL of #version {}: Vulkan takes 140 and later", outline.version);
  return outline.profile == "compatibility" ? "GLSL of OpenGL's compatibility profile" : "";
}

}  // namespace

GlslOutline ReadGlslOutline(std::string_view text) {
  GlslOutline outline{.is_hlsl = LooksLikeHlsl(text)};
  GlslScanner scanner(text);
  bool is_line_start = true;
  bool is_directive = false;
  Tokens line;  // the tokens of a directive
  for (std::string_view token = scanner.Next(); !token.empty(); token = scanner.Next()) {
    outline.has_main |= token == "main";
    if (token == "\n") {
      if (is_directive) TakeDirective(line, outline);
      line.clear();
      is_directive = false;
      is_line_start = true;
      continue;
    }
    if (is_directive) line.push_back(token);
    is_directive |= is_line_start && token == "#";
    is_line_start = false;
  }
  if (is_directive) TakeDirective(line, outline);
  return outline;
}

std::string FindGlslFlaw(std::string_view text, std::string_view messages) {
  const auto says = [&](std::string_view words) {
    return messages.find(words) != std::string_view::npos;
  };
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) return "empty";
  const GlslOutline outline = ReadGlslOutline(text);
  if (says("not found; looked at")) return "a shader that includes what is not in the tree";
  if (outline.is_hlsl) return std::string(kOtherLanguage);
  if (!outline.has_main) return "a part of a shader: it has no main()";
  if (std::string flaw = FindVersionFlaw(outline); !flaw.empty()) return flaw;
  for (const Meaning& meaning : kMeanings) {
    if (says(meaning.message)) return std::string(meaning.flaw);
  }
  if (outline.version.empty()) return "GLSL without #version: its engine puts something in front";
  return "no Vulkan GLSL: the shader cooker refuses it";
}

}  // namespace galley::worker

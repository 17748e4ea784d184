#include "director/cli/init/shader_source.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <set>

#include "fmt/format.h"

namespace galley::init {
namespace {

using Words = std::set<std::string, std::less<>>;

bool IsWordLetter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string_view Trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

std::string_view TakeLine(std::string_view& text) {
  const size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  return line;
}

std::string_view TakeWord(std::string_view& text) {
  text = Trimmed(text);
  size_t end = 0;
  while (end < text.size() && IsWordLetter(text[end])) ++end;
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end);
  return word;
}

// "#  version 450" -> directive "version", rest " 450"; nullopt: no directive.
struct Directive {
  std::string_view name;
  std::string_view rest;
};
std::optional<Directive> DirectiveOf(std::string_view line) {
  line = Trimmed(line);
  if (!line.starts_with('#')) return std::nullopt;
  line.remove_prefix(1);
  Directive directive;
  directive.name = TakeWord(line);
  directive.rest = Trimmed(line);
  return directive;
}

enum class Truth { kFalse, kTrue, kUnknown };

// The lines that a compiler for Vulkan reads, as far as that can be told. What is defined outside
// is not known; `VULKAN` is 100, and what the text defines is defined.
class Conditions {
 public:
  // True when the line (no directive) is read for certain.
  bool IsRead() const {
    return std::all_of(open_.begin(), open_.end(),
                       [](const Branch& branch) { return branch.now == Truth::kTrue; });
  }

  void Take(const Directive& directive) {
    if (directive.name == "ifdef" || directive.name == "ifndef") {
      std::string_view rest = directive.rest;
      const Truth defined = Defined(TakeWord(rest));
      Open(directive.name == "ifdef" ? defined : Not(defined));
    } else if (directive.name == "if") {
      Open(Judge(directive.rest));
    } else if (directive.name == "elif" && !open_.empty()) {
      Next(Judge(directive.rest));
    } else if (directive.name == "else" && !open_.empty()) {
      Next(Truth::kTrue);
    } else if (directive.name == "endif" && !open_.empty()) {
      open_.pop_back();
    } else if (directive.name == "define" && IsRead()) {
      std::string_view rest = directive.rest;
      defined_.emplace(TakeWord(rest));
    }
  }

  bool IsMacro(std::string_view word) const { return defined_.contains(word); }

 private:
  struct Branch {
    Truth now = Truth::kUnknown;
    Truth before = Truth::kFalse;  // whether a branch of this #if was read already
  };

  static Truth Not(Truth truth) {
    if (truth == Truth::kUnknown) return truth;
    return truth == Truth::kTrue ? Truth::kFalse : Truth::kTrue;
  }

  Truth Defined(std::string_view name) const {
    if (name == "VULKAN" || defined_.contains(name)) return Truth::kTrue;
    return name == "GL_ES" || name == "HLSL" ? Truth::kFalse : Truth::kUnknown;
  }

  // Knows numbers, NAME, defined(NAME), defined NAME, and their negations.
  Truth Judge(std::string_view condition) const {
    condition = Trimmed(condition);
    if (condition.starts_with('!')) return Not(Judge(condition.substr(1)));
    std::string_view rest = condition;
    const std::string_view word = TakeWord(rest);
    rest = Trimmed(rest);
    if (word == "defined") {
      if (rest.starts_with('(')) rest.remove_prefix(1);
      const std::string_view name = TakeWord(rest);
      rest = Trimmed(rest);
      if (rest.starts_with(')')) rest.remove_prefix(1);
      return Trimmed(rest).empty() ? Defined(name) : Truth::kUnknown;
    }
    if (!rest.empty()) return Truth::kUnknown;
    if (word == "0") return Truth::kFalse;
    return word == "1" || word == "VULKAN" ? Truth::kTrue : Truth::kUnknown;
  }

  void Open(Truth truth) { open_.push_back({truth, truth}); }

  void Next(Truth truth) {
    Branch& branch = open_.back();
    if (branch.before == Truth::kTrue) {
      branch.now = Truth::kFalse;
    } else {
      branch.now = branch.before == Truth::kUnknown ? Truth::kUnknown : truth;
      if (truth != Truth::kFalse) branch.before = branch.now;
    }
  }

  std::vector<Branch> open_;
  Words defined_;
};

bool IsOpaqueType(std::string_view type) {
  for (const std::string_view part :
       {"sampler", "texture", "image", "subpassInput", "accelerationStructure"}) {
    if (type.starts_with(part)) return true;
    if (type.size() > 1 && (type[0] == 'i' || type[0] == 'u') && type.substr(1).starts_with(part))
      return true;
  }
  return false;
}

// Judges one declaration outside of functions: what precedes its ';' or '{'.
class Declarations {
 public:
  Declarations(const Conditions& conditions, bool is_fixed_stage)
      : conditions_(conditions), has_locations_(is_fixed_stage) {}

  std::string Judge(std::string_view text, bool is_block) const {
    const Parts parts = Split(text);
    if (parts.is_unclear) return "";
    if (parts.words.contains("uniform") && !is_block) return JudgeUniform(parts);
    const bool is_between = parts.words.contains("in") || parts.words.contains("out");
    const bool has_name = parts.order.size() > 1;
    if (!has_locations_ || !is_between || !has_name || parts.has_location) return "";
    if (parts.words.contains("gl_PerVertex") || parts.order.back().starts_with("gl_")) return "";
    if (is_block) return "";  // its members may have locations
    return "GLSL of OpenGL: an input or output has no layout(location)";
  }

 private:
  struct Parts {
    Words words;
    std::vector<std::string> order;
    bool has_binding = false;
    bool has_location = false;
    bool is_constant = false;
    bool is_unclear = false;  // a function, a macro
  };

  static std::string JudgeUniform(const Parts& parts) {
    for (const std::string& word : parts.order) {
      if (!IsOpaqueType(word)) continue;
      if (parts.has_binding) return "";
      return "GLSL of OpenGL: a sampler or image has no layout(binding)";
    }
    if (parts.is_constant) return "";
    return "GLSL of OpenGL: a uniform is in no block";
  }

  Parts Split(std::string_view text) const {
    Parts parts;
    text = text.substr(0, text.find('='));
    while (!(text = Trimmed(text)).empty()) {
      const std::string_view word = TakeWord(text);
      text = Trimmed(text);
      if (word.empty()) {
        const char c = text.front();
        if (c == '(') parts.is_unclear = true;
        text.remove_prefix(1);
        // The size of an array, and a further name, say nothing of the first.
        if (c == '[') text = text.substr(std::min(text.size(), text.find(']')));
        if (c == ',') break;
        continue;
      }
      if (word == "layout" && text.starts_with('(')) {
        const std::string_view inside = text.substr(0, text.find(')'));
        parts.has_binding |= inside.find("binding") != std::string_view::npos;
        parts.has_location |= inside.find("location") != std::string_view::npos;
        parts.is_constant |= inside.find("push_constant") != std::string_view::npos ||
                             inside.find("shaderRecord") != std::string_view::npos;
        if (inside.find_first_of("\"#") != std::string_view::npos) parts.is_unclear = true;
        const size_t end = text.find(')');
        text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
        continue;
      }
      if (conditions_.IsMacro(word) || word == "precision" || word == "struct" || word == "const")
        parts.is_unclear = true;
      parts.words.emplace(word);
      parts.order.emplace_back(word);
    }
    if (parts.order.empty()) parts.is_unclear = true;
    return parts;
  }

  const Conditions& conditions_;
  const bool has_locations_;
};

// Words that Vulkan GLSL does not have, but programs for another language or an older GLSL do. A
// text with #version is GLSL: there the words of others are names like all.
std::string JudgeWord(std::string_view word, char next, bool is_glsl) {
  static const Words kOld = {"attribute",          "varying",     "gl_FragColor",
                             "gl_FragData",        "gl_Vertex",   "gl_ModelViewProjectionMatrix",
                             "gl_ModelViewMatrix", "gl_Normal",   "gl_NormalMatrix",
                             "gl_MultiTexCoord0",  "gl_TexCoord", "gl_Color",
                             "ftransform",         "gl_VertexID", "gl_InstanceID",
                             "gl_FrontColor"};
  static const Words kOther = {"cbuffer",     "float2",           "float3",         "float4",
                               "SV_Target",   "SV_Position",      "SV_POSITION",    "SV_TARGET",
                               "RWTexture2D", "StructuredBuffer", "ConstantBuffer", "float4x4",
                               "numthreads"};
  static const Words kCalls = {"texture2D",    "texture3D",     "textureCube",
                               "texture2DLod", "texture2DProj", "shadow2D"};
  if (!is_glsl && kOther.contains(word)) return "not GLSL but another language, such as HLSL";
  if (kOld.contains(word) || (kCalls.contains(word) && next == '('))
    return "GLSL of OpenGL: words that Vulkan has not, such as varying or gl_FragColor";
  return "";
}

// Extensions that glslang 12, which Galley has, does not know.
// Source: its Versions.h.
bool IsNewExtension(std::string_view name) {
  static const Words kNew = {"GL_EXT_descriptor_heap",
                             "GL_EXT_integer_dot_product",
                             "GL_EXT_bfloat16",
                             "GL_EXT_float_e5m2",
                             "GL_EXT_float_e4m3",
                             "GL_EXT_long_vector",
                             "GL_NV_cooperative_vector",
                             "GL_NV_cooperative_matrix2",
                             "GL_EXT_replicated_composites",
                             "GL_ARM_tensors"};
  return kNew.contains(name);
}

std::string JudgeVersion(std::string_view rest) {
  const std::string_view number_text = TakeWord(rest);
  int number = 0;
  std::from_chars(number_text.data(), number_text.data() + number_text.size(), number);
  const std::string_view profile = TakeWord(rest);
  const bool is_es = profile == "es" || number == 100;
  if (is_es && number < 310)
    return fmt::format("GLSL ES of #version {}: Vulkan takes 310 es and later", number_text);
  if (!is_es && number < 140)
    return fmt::format("GLSL of #version {}: Vulkan takes 140 and later", number_text);
  return profile == "compatibility" ? "GLSL of OpenGL's compatibility profile" : "";
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  std::string Judge() {
    while (!text_.empty()) {
      const std::string_view line = TakeLine(text_);
      if (const auto directive = DirectiveOf(line); directive.has_value()) {
        conditions_.Take(*directive);
        if (directive->name == "version" && !has_version_) {
          has_version_ = true;
          Note(JudgeVersion(directive->rest));
        }
        std::string_view rest = directive->rest;
        if (directive->name == "extension" && conditions_.IsRead() &&
            IsNewExtension(TakeWord(rest)))
          Note("GLSL with an extension that the cooker's compiler does not know");
      } else if (conditions_.IsRead()) {
        ReadLine(line);
      } else {
        has_main_ = has_main_ || line.find("main") != std::string_view::npos;
      }
    }
    if (!has_main_)
      return found_.starts_with("not GLSL") ? found_ : "a part of a shader: it has no main()";
    if (!found_.empty()) return found_;
    return has_version_ ? "" : "GLSL without #version: its engine puts something in front";
  }

 private:
  void ReadLine(std::string_view line) {
    for (size_t at = 0; at < line.size();) {
      if (!IsWordLetter(line[at])) {
        ReadMark(line[at++]);
        continue;
      }
      const size_t begin = at;
      while (at < line.size() && IsWordLetter(line[at])) ++at;
      const std::string_view word = line.substr(begin, at - begin);
      const size_t next = line.find_first_not_of(" \t", at);
      const char mark = next == std::string_view::npos ? ' ' : line[next];
      has_main_ = has_main_ || word == "main";
      Note(JudgeWord(word, mark, has_version_));
      if (depth_ == 0) declaration_.append(word);
    }
    if (depth_ == 0) declaration_ += ' ';
  }

  void ReadMark(char c) {
    if (c == '{' || c == ';') {
      if (depth_ == 0)
        Note(Declarations(conditions_, true).Judge(declaration_, c == '{' || after_block_));
      if (depth_ == 0) declaration_.clear();
      after_block_ = false;
    }
    if (c == '{') ++depth_;
    if (c == '}' && depth_ > 0 && --depth_ == 0) after_block_ = true;
    if (depth_ == 0 && c != ';' && c != '}') declaration_ += c;
  }

  // The first finding counts.
  void Note(std::string finding) {
    if (found_.empty()) found_ = std::move(finding);
  }

  std::string_view text_;
  Conditions conditions_;
  std::string declaration_;
  int depth_ = 0;
  bool after_block_ = false;  // behind the '}' of a block: the name of its instance
  bool has_main_ = false;
  bool has_version_ = false;
  std::string found_;
};

}  // namespace

std::string WithoutComments(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  std::string plain;
  plain.reserve(text.size());
  for (size_t at = 0; at < text.size(); ++at) {
    const std::string_view rest = text.substr(at);
    if (rest.starts_with("\\\n")) {
      ++at;
    } else if (rest.starts_with("\\\r\n")) {
      at += 2;
    } else if (rest.starts_with("//")) {
      at = std::min(text.find('\n', at), text.size());
      plain += '\n';
    } else if (rest.starts_with("/*")) {
      const size_t end = std::min(text.find("*/", at + 2), text.size());
      plain.append(1, ' ');
      plain.append(
          static_cast<size_t>(std::count(text.begin() + static_cast<ptrdiff_t>(at),
                                         text.begin() + static_cast<ptrdiff_t>(end), '\n')),
          '\n');
      at = end + 1;
    } else {
      plain += text[at];
    }
  }
  return plain;
}

std::vector<std::string> IncludesOf(std::string_view text) {
  std::vector<std::string> includes;
  while (!text.empty()) {
    const auto directive = DirectiveOf(TakeLine(text));
    if (!directive || directive->name != "include" || directive->rest.size() < 3) continue;
    const char close = directive->rest[0] == '<' ? '>' : '"';
    if (directive->rest[0] != '<' && directive->rest[0] != '"') continue;
    const size_t end = directive->rest.find(close, 1);
    if (end != std::string_view::npos) includes.emplace_back(directive->rest.substr(1, end - 1));
  }
  return includes;
}

std::string WhyNoVulkanGlsl(std::string_view text) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) return "empty";
  if (text.find('\0') != std::string_view::npos) return "no text";
  return Reader(text).Judge();
}

bool WantsLateSpirv(std::string_view text) {
  for (const std::string_view extension :
       {"GL_EXT_ray_query", "GL_EXT_ray_tracing", "GL_EXT_mesh_shader"}) {
    if (text.find(extension) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace galley::init

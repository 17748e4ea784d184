// TextGuard: refuses GLSL that would cost the compiler without limit, before the compiler reads it.
//
// glslang unfolds structures in structures, expands macros, and walks nested code by recursion: a
// page of text can keep it busy for hours, or overflow its stack. The guard reads the texts of a
// compilation before the compiler does, expands their macros, and counts what they demand. The
// guard evaluates no condition but `#if 0` and reads all other parts: it may count too much, but
// its limits are far above what people write.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "worker/cookers/shader/macro_expander.h"

namespace galley::worker {

// The members of a structure or block, with those of inner structures counted each time.
inline constexpr uint64_t kUnfoldedMembersMax = 65'536;
// SPIR-V Specification, 2.17, "Universal Limits": structure nesting depth.
inline constexpr uint64_t kStructureDepthMax = 255;
inline constexpr uint64_t kBracketDepthMax = 1'000;
inline constexpr uint64_t kOperatorChainMax = 4'096;  // a + b + ..., between the same brackets
inline constexpr uint64_t kArrayDimensionsMax = 255;
// The tokens of an `#if` or `#elif`, which the preprocessor reads by recursion.
inline constexpr size_t kConditionTokensMax = 4'096;

// An object serves a single compilation.
// Threads: none.
class TextGuard {
 public:
  // INVALID_ARGUMENT: "file:line: what is too much, and the limit". REQUIRES: `file` and `text`
  // outlive the guard.
  absl::Status Read(std::string_view file, std::string_view text);
  // Reads an included text. If its macros can expand to much text, reads the including texts once
  // more: the guard read them whole before the compiler asked for the include.
  absl::Status ReadInclude(std::string_view file, std::string_view text, std::string_view includer);

 private:
  struct Text {
    std::string_view text;
    std::string includer;
  };
  struct Structure {
    uint64_t members = 0;
    uint64_t depth = 1;
  };
  class Reader;

  MacroExpander macros_;
  std::map<std::string, Text, std::less<>> texts_;
  std::map<std::string, Structure, std::less<>> structures_;
};

}  // namespace galley::worker

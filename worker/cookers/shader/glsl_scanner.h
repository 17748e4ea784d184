// GlslScanner: splits GLSL into words, numbers and signs. Comments and joined lines are blanks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace galley::worker {

class GlslScanner {
 public:
  explicit GlslScanner(std::string_view text) : text_(text) {}

  uint64_t line() const { return line_; }
  // The next token; empty: the end of the text, "\n": the end of a line.
  std::string_view Next();
  // Whether a blank, a comment or a joined line stood before the last token.
  bool is_behind_blank() const { return is_behind_blank_; }

 private:
  void SkipBlanks();

  const std::string_view text_;
  size_t at_ = 0;
  uint64_t line_ = 1;
  bool is_behind_blank_ = false;
};

inline bool IsWordStart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

}  // namespace galley::worker

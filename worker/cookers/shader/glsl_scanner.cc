#include "worker/cookers/shader/glsl_scanner.h"

#include <algorithm>

namespace galley::worker {
namespace {

bool IsNumeral(char c) { return c >= '0' && c <= '9'; }
bool IsWordPart(char c) { return IsWordStart(c) || IsNumeral(c); }
bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

bool IsPair(char a, char b) {
  if (b == '=') return std::string_view("=!<>+-*/%&|^").find(a) != std::string_view::npos;
  return a == b && std::string_view("+-<>&|^#").find(a) != std::string_view::npos;
}

}  // namespace

void GlslScanner::SkipBlanks() {
  while (at_ < text_.size()) {
    const std::string_view rest = text_.substr(at_);
    if (IsBlank(rest[0])) {
      ++at_;
    } else if (rest.starts_with("\\\n") || rest.starts_with("\\\r\n")) {
      at_ += rest[1] == '\r' ? 3 : 2;
      ++line_;
    } else if (rest.starts_with("//")) {
      at_ = std::min(text_.find('\n', at_), text_.size());
      // A comment continues behind a joined line.
      while (at_ < text_.size() && text_[at_ - 1] == '\\') {
        ++line_;
        at_ = std::min(text_.find('\n', at_ + 1), text_.size());
      }
    } else if (rest.starts_with("/*")) {
      const size_t close = text_.find("*/", at_ + 2);
      const size_t end = close == std::string_view::npos ? text_.size() : close + 2;
      const std::string_view comment = text_.substr(at_, end - at_);
      line_ += static_cast<uint64_t>(std::ranges::count(comment, '\n'));
      at_ = end;
    } else {
      return;
    }
  }
}

std::string_view GlslScanner::Next() {
  const size_t before = at_;
  SkipBlanks();
  is_behind_blank_ = at_ != before;
  if (at_ >= text_.size()) return {};
  const size_t begin = at_++;
  const char c = text_[begin];
  if (c == '\n') ++line_;
  if (IsWordPart(c) || (c == '.' && at_ < text_.size() && IsNumeral(text_[at_]))) {
    while (at_ < text_.size() && (IsWordPart(text_[at_]) || (text_[at_] == '.' && !IsWordStart(c))))
      ++at_;
  } else if (at_ < text_.size() && IsPair(c, text_[at_])) {
    ++at_;
  }
  return text_.substr(begin, at_ - begin);
}

}  // namespace galley::worker

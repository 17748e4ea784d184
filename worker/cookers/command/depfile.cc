#include "worker/cookers/command/depfile.h"

#include <set>
#include <utility>

#include "common/base/status_macros.h"
#include "fmt/format.h"
#include "worker/cookers/verdict_error.h"

namespace galley::worker {
namespace {

bool IsBlank(char c) { return c == ' ' || c == '\t'; }

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  absl::StatusOr<std::vector<std::string>> Parse() {
    while (at_ < text_.size()) RETURN_IF_ERROR(ParseRule());
    return std::move(prerequisites_);
  }

 private:
  absl::Status Error(std::string_view reason) const {
    return VerdictError("line {}: {}", line_, reason);
  }

  // Length of the line break at `at`, 0 when there is none.
  size_t Break(size_t at) const {
    if (text_.substr(at).starts_with("\r\n")) return 2;
    return at < text_.size() && text_[at] == '\n' ? 1 : 0;
  }

  void SkipBlanks() {
    while (at_ < text_.size()) {
      if (IsBlank(text_[at_])) {
        ++at_;
      } else if (const size_t length = text_[at_] == '\\' ? Break(at_ + 1) : 0; length > 0) {
        at_ += 1 + length;
        ++line_;
      } else if (text_[at_] == '#') {
        while (at_ < text_.size() && Break(at_) == 0) ++at_;
      } else {
        return;
      }
    }
  }

  bool AtLineEnd() const { return at_ >= text_.size() || Break(at_) > 0; }

  // Reads the backslashes at `at_` and the character after them, if they escape it.
  void TakeBackslashes(std::string& name) {
    size_t count = 0;
    while (at_ + count < text_.size() && text_[at_ + count] == '\\') ++count;
    const size_t next = at_ + count;
    if (next < text_.size() && (text_[next] == ' ' || text_[next] == '#')) {
      name.append(count / 2, '\\');
      at_ = next;
      if (count % 2 == 1) name += text_[at_++];
      return;
    }
    const bool goes_on = Break(next) > 0;
    name.append(goes_on ? count - 1 : count, '\\');
    at_ = goes_on ? next - 1 : next;
  }

  // Reads a name up to a blank, the line's end or a ':' that ends the targets.
  absl::Status TakeName(std::string& name) {
    while (!AtLineEnd() && !IsBlank(text_[at_])) {
      const char c = text_[at_];
      if (static_cast<unsigned char>(c) < ' ' || c == '\x7F')
        return Error("a control character; expected Make syntax");
      if (c == '\\') {
        if (Break(at_ + 1) > 0) return absl::OkStatus();
        TakeBackslashes(name);
      } else if (c == ':' &&
                 (at_ + 1 == text_.size() || IsBlank(text_[at_ + 1]) || Break(at_ + 1) > 0)) {
        return absl::OkStatus();
      } else {
        if (c == '$' && at_ + 1 < text_.size() && text_[at_ + 1] == '$') ++at_;
        name += c;
        ++at_;
      }
    }
    return absl::OkStatus();
  }

  absl::Status ParseRule() {
    bool has_target = false;
    bool after_colon = false;
    for (SkipBlanks(); !AtLineEnd(); SkipBlanks()) {
      if (text_[at_] == ':' && !after_colon) {
        if (!has_target) return Error("a ':' without a target before it");
        after_colon = true;
        ++at_;
        continue;
      }
      std::string name;
      const size_t before = at_;
      RETURN_IF_ERROR(TakeName(name));
      if (at_ == before) return Error("a second ':' in one rule");
      if (name.empty()) continue;
      has_target = true;
      if (after_colon) RETURN_IF_ERROR(Add(std::move(name)));
    }
    if (has_target && !after_colon) return Error("expected 'target: prerequisite ...'");
    at_ += Break(at_);
    ++line_;
    return absl::OkStatus();
  }

  absl::Status Add(std::string name) {
    if (!seen_.insert(name).second) return absl::OkStatus();
    if (seen_.size() > kPrerequisitesMax)
      return Error(fmt::format("more than {} prerequisites", kPrerequisitesMax));
    prerequisites_.push_back(std::move(name));
    return absl::OkStatus();
  }

  const std::string_view text_;
  size_t at_ = 0;
  size_t line_ = 1;
  std::set<std::string> seen_;
  std::vector<std::string> prerequisites_;
};

}  // namespace

absl::StatusOr<std::vector<std::string>> ParseDepfile(std::string_view text) {
  if (text.size() > kDepfileBytesMax)
    return VerdictError("{} bytes; a depfile may have at most {}", text.size(), kDepfileBytesMax);
  return Parser(text).Parse();
}

}  // namespace galley::worker

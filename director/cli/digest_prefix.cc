#include "director/cli/digest_prefix.h"

#include <algorithm>

#include "common/base/errors.h"
#include "fmt/format.h"

namespace galley::cli {
namespace {

constexpr size_t kNamedMax = 5;
constexpr std::string_view kHex = "0123456789abcdef", kDecimal = "0123456789";
constexpr size_t kHexDigits = 2 * Digest::kHashSize;

bool IsPrefix(std::string_view text) {
  const size_t slash = text.find('/');
  const std::string_view hex = text.substr(0, slash);
  if (hex.empty() || hex.size() > kHexDigits ||
      hex.find_first_not_of(kHex) != std::string_view::npos)
    return false;
  if (slash == std::string_view::npos) return true;
  return hex.size() == kHexDigits &&
         text.find_first_not_of(kDecimal, slash + 1) == std::string_view::npos;
}

}  // namespace

DigestPrefix::DigestPrefix(std::string_view text) {
  while (text.ends_with('.')) text.remove_suffix(1);
  text_ = text;
  is_valid_ = IsPrefix(text);
}

void DigestPrefix::Offer(const Digest& digest, std::string_view what) {
  if (is_valid_ && digest.ToString().starts_with(text_)) found_.emplace(digest, what);
}

absl::StatusOr<Digest> DigestPrefix::Found(std::string_view where_listed) const {
  if (!is_valid_) {
    return InvalidArgumentError(
        "{}: expected <64 hex digits>/<size>, or a unique prefix of a digest ({})", text_,
        where_listed);
  }
  if (found_.size() == 1) return found_.begin()->first;
  if (found_.empty()) {
    return InvalidArgumentError(
        "no known digest begins with {} ({}); another one must be given whole: <64 hex "
        "digits>/<size>",
        text_, where_listed);
  }
  std::string text = fmt::format("{} is ambiguous, give more digits:", text_);
  size_t named = 0;
  for (const auto& [digest, what] : found_) {
    if (named++ == kNamedMax)
      return InvalidArgumentError("{}\n  and {} more", text, found_.size() - kNamedMax);
    text += fmt::format("\n  {} ({})", digest.ToString(), what);
  }
  return absl::InvalidArgumentError(text);
}

}  // namespace galley::cli

#include "common/http/field_syntax.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/ascii.h"
#include "common/base/plain_text.h"

namespace galley::http {

bool IsToken(std::string_view text) {
  return !text.empty() && IsAlphanumericOr(text, "!#$%&'*+-.^_`|~");
}

bool IsDigits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

bool EqualsIgnoringCase(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return absl::ascii_tolower(static_cast<unsigned char>(c)); };
  return std::ranges::equal(a, b, {}, lower, lower);
}

std::string_view TrimSpace(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::vector<std::string_view> SplitList(std::string_view value) {
  std::vector<std::string_view> elements;
  while (true) {
    const size_t comma = value.find(',');
    const std::string_view element = TrimSpace(value.substr(0, comma));
    if (!element.empty()) elements.push_back(element);
    if (comma == std::string_view::npos) return elements;
    value.remove_prefix(comma + 1);
  }
}

std::optional<std::string> JoinedValue(std::span<const Field> fields, std::string_view name) {
  std::optional<std::string> joined;
  for (const Field& field : fields) {
    if (!EqualsIgnoringCase(field.name, name)) continue;
    if (joined) {
      *joined += ", ";
    } else {
      joined.emplace();
    }
    *joined += field.value;
  }
  return joined;
}

}  // namespace galley::http

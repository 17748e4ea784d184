#include "director/launch/template_text.h"

#include <algorithm>

#include "common/base/errors.h"

namespace galley::director {
namespace {

// Returns the placeholder that begins at `at`, without braces; empty: there is none.
std::string_view PlaceholderAt(std::string_view text, size_t at) {
  if (text[at] != '{' || (at > 0 && text[at - 1] == '$')) return "";
  const size_t end = text.find('}', at);
  if (end == std::string_view::npos) return "";
  const std::string_view name = text.substr(at + 1, end - at - 1);
  const bool is_word =
      std::ranges::all_of(name, [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; });
  return is_word ? name : "";  // "{}" is no placeholder either
}

}  // namespace

std::string FillIn(std::string_view text, const std::map<std::string, std::string>& values) {
  std::string filled;
  for (size_t at = 0; at < text.size();) {
    const std::string_view name = PlaceholderAt(text, at);
    const auto value = values.find(std::string(name));
    if (name.empty() || value == values.end()) {
      filled += text[at++];
    } else {
      filled += value->second;
      at += name.size() + 2;
    }
  }
  return filled;
}

absl::Status CheckPlaceholders(std::string_view text, const std::vector<std::string>& known) {
  for (size_t at = 0; at < text.size(); ++at) {
    const std::string_view name = PlaceholderAt(text, at);
    if (name.empty() || std::ranges::find(known, name) != known.end()) continue;
    std::string all;
    for (const std::string& one : known) all += (all.empty() ? "{" : ", {") + one + "}";
    return InvalidArgumentError("{{{}}}: no such placeholder; there are {}", name, all);
  }
  return absl::OkStatus();
}

}  // namespace galley::director

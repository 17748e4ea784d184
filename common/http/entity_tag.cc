#include "common/http/entity_tag.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "common/http/field_syntax.h"

namespace galley::http {
namespace {

// REQUIRES: `text` has no quote.
bool IsOpaque(std::string_view text) {
  return std::ranges::all_of(text,
                             [](char c) { return static_cast<uint8_t>(c) > 0x20 && c != 0x7f; });
}

// Takes the tag at the front of `text`. nullopt: there is none, and `text` stays.
std::optional<EntityTag> TakeEntityTag(std::string_view& text) {
  const bool is_weak = text.starts_with("W/");
  std::string_view rest = text.substr(is_weak ? 2 : 0);
  if (!rest.starts_with('"')) return std::nullopt;
  const size_t end = rest.find('"', 1);
  if (end == std::string_view::npos || !IsOpaque(rest.substr(1, end - 1))) return std::nullopt;
  text = rest.substr(end + 1);
  return EntityTag{.is_weak = is_weak, .opaque = std::string(rest.substr(1, end - 1))};
}

}  // namespace

std::string TextOf(const EntityTag& tag) {
  return std::string(tag.is_weak ? "W/" : "") + '"' + tag.opaque + '"';
}

std::optional<EntityTag> ParseEntityTag(std::string_view text) {
  std::optional<EntityTag> tag = TakeEntityTag(text);
  return text.empty() ? std::move(tag) : std::nullopt;
}

std::optional<EntityTags> ParseEntityTags(std::string_view value) {
  value = TrimSpace(value);
  EntityTags parsed;
  parsed.is_any = value == "*";
  if (parsed.is_any) return parsed;
  while (!value.empty()) {
    if (!value.starts_with(',')) {
      std::optional<EntityTag> tag = TakeEntityTag(value);
      if (!tag) return std::nullopt;
      parsed.tags.push_back(*std::move(tag));
      value = TrimSpace(value);
      if (!value.empty() && !value.starts_with(',')) return std::nullopt;
    }
    if (!value.empty()) value = TrimSpace(value.substr(1));
  }
  return parsed;
}

bool MatchStrongly(const EntityTag& a, const EntityTag& b) {
  return !a.is_weak && !b.is_weak && a.opaque == b.opaque;
}

bool MatchWeakly(const EntityTag& a, const EntityTag& b) { return a.opaque == b.opaque; }

}  // namespace galley::http

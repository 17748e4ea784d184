// EntityTag: names the bytes of an answer, so that a client can say which bytes it has.
//
//   "5e1f"          strong: two answers with this tag have the same bytes
//   W/"5e1f-zstd"   weak: two answers with this tag decode to the same bytes
//
// Threads: none; pure functions.   Source: RFC 9110, 8.8.3, 13.1.1 and 13.1.2.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace galley::http {

struct EntityTag {
  bool is_weak = false;
  std::string opaque;  // between the quotes: no '"', no space, no control character
  friend bool operator==(const EntityTag&, const EntityTag&) = default;
};

// The value of If-Match or If-None-Match.
struct EntityTags {
  bool is_any = false;          // "*": tags is empty
  std::vector<EntityTag> tags;  // in the order of the field; maybe none
};

// The tag as a field has it. REQUIRES: `tag.opaque` has only the characters that it may have.
std::string TextOf(const EntityTag& tag);
// nullopt: `text` is something else than one tag. "w/" is not "W/".
std::optional<EntityTag> ParseEntityTag(std::string_view text);
// nullopt: `value` is neither "*" nor a list of tags. A comma between quotes is part of a tag.
std::optional<EntityTags> ParseEntityTags(std::string_view value);

// Both are strong, and the texts between the quotes are equal.
bool MatchStrongly(const EntityTag& a, const EntityTag& b);
// The texts between the quotes are equal.
bool MatchWeakly(const EntityTag& a, const EntityTag& b);

}  // namespace galley::http

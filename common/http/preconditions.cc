#include "common/http/preconditions.h"

#include <algorithm>

#include "common/http/field_syntax.h"

namespace galley::http {
namespace {

using Comparison = bool (*)(const EntityTag&, const EntityTag&);

// Whether a tag of the field `value` is `tag`.
bool AnyMatches(std::string_view value, const std::optional<EntityTag>& tag, Comparison matches) {
  const std::optional<EntityTags> listed = ParseEntityTags(value);
  if (!listed) return false;
  if (listed->is_any) return true;
  return tag && std::ranges::any_of(listed->tags,
                                    [&](const EntityTag& one) { return matches(one, *tag); });
}

bool RangeStands(std::string_view if_range, const std::optional<EntityTag>& tag) {
  const std::optional<EntityTag> known = ParseEntityTag(TrimSpace(if_range));
  return known && tag && MatchStrongly(*known, *tag);
}

}  // namespace

Evaluation Evaluate(const Conditions& conditions, bool is_head,
                    const std::optional<EntityTag>& tag) {
  if (conditions.if_match && !AnyMatches(*conditions.if_match, tag, MatchStrongly))
    return {.verdict = Verdict::kPreconditionFailed, .ranges_apply = false};
  if (conditions.if_none_match && AnyMatches(*conditions.if_none_match, tag, MatchWeakly))
    return {.verdict = Verdict::kNotModified, .ranges_apply = false};
  const bool stands = !conditions.if_range || RangeStands(*conditions.if_range, tag);
  return {.verdict = Verdict::kSend, .ranges_apply = !is_head && stands};
}

}  // namespace galley::http

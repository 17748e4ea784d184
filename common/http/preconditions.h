// Preconditions: whether a GET or HEAD is answered with the bytes, with 304 or with 412.
//
// A caller asks once it knows that the answer without conditions would be a 200: a 404 or a 500 is
// sent whatever the conditions say. We send no Last-Modified, so that conditions with a date have
// nothing to compare with: If-Modified-Since and If-Unmodified-Since are not read at all, and an
// If-Range with a date matches nothing.
// Threads: none; a pure function.   Source: RFC 9110, 13.1 and 13.2.
#pragma once

#include <optional>
#include <string_view>

#include "common/http/entity_tag.h"

namespace galley::http {

// The values of the fields; nullopt: the request does not have the field.
struct Conditions {
  std::optional<std::string_view> if_match;
  std::optional<std::string_view> if_none_match;
  std::optional<std::string_view> if_range;
};

enum class Verdict {
  kSend,                // 200, or 206 if ranges apply
  kNotModified,         // 304, which repeats Cache-Control, ETag and Vary
  kPreconditionFailed,  // 412
};

struct Evaluation {
  Verdict verdict = Verdict::kSend;
  bool ranges_apply = false;  // a Range is honoured: only with kSend
};

// `tag` names the bytes that would be sent, in their coding; nullopt: they have no tag, and "*"
// still matches. Conditions are asked in this order, that of RFC 9110, 13.2.2:
//
//   If-Match       no tag matches strongly: kPreconditionFailed
//   If-None-Match  a tag matches weakly: kNotModified
//   If-Range       does not match strongly: the Range is ignored. A HEAD ignores it in any case
//
// A field that is malformed matches nothing: the answer is then 412 for an If-Match, and all bytes
// for the others.
Evaluation Evaluate(const Conditions& conditions, bool is_head,
                    const std::optional<EntityTag>& tag);

}  // namespace galley::http

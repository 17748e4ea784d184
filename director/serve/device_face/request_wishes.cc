#include "director/serve/device_face/request_wishes.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "common/base/parse_whole.h"
#include "common/http/content_coding.h"
#include "common/http/entity_tag.h"
#include "common/http/field_syntax.h"

namespace galley::director {
namespace {

// The value of "wait = 10; x=y"; nullopt: another preference.
std::optional<std::string_view> WaitText(std::string_view preference) {
  const std::string_view pair = preference.substr(0, preference.find(';'));
  const size_t equals = pair.find('=');
  if (equals == std::string_view::npos) return std::nullopt;
  if (!http::EqualsIgnoringCase(http::TrimSpace(pair.substr(0, equals)), "wait"))
    return std::nullopt;
  return http::TrimSpace(pair.substr(equals + 1));
}

// A number of any length.
absl::Duration SecondsOf(std::string_view digits) {
  const std::optional<uint32_t> seconds = ParseWhole<uint32_t>(digits);
  return seconds ? std::min(absl::Seconds(*seconds), kAnswerWaitMax) : kAnswerWaitMax;
}

}  // namespace

absl::Duration WaitOf(std::optional<std::string_view> prefer) {
  if (!prefer) return kAnswerWait;
  for (const std::string_view preference : http::SplitList(*prefer)) {
    const std::optional<std::string_view> wait = WaitText(preference);
    if (wait) return http::IsDigits(*wait) ? SecondsOf(*wait) : kAnswerWait;
  }
  return kAnswerWait;
}

std::vector<std::string> KnownTagsOf(std::optional<std::string_view> if_none_match,
                                     std::optional<std::string_view> accept_encoding) {
  std::vector<std::string> known;
  if (!if_none_match) return known;
  const std::optional<http::EntityTags> tags = http::ParseEntityTags(*if_none_match);
  if (!tags) return known;
  const http::ContentCoding coding = http::ChooseContentCoding(accept_encoding);
  const std::string ending = "-" + std::string(http::NameOf(coding));
  for (const http::EntityTag& tag : tags->tags) {
    if (known.size() == kKnownTagsMax) break;
    std::string opaque = tag.opaque;
    const bool is_coded = tag.is_weak && coding != http::ContentCoding::kIdentity;
    if (is_coded && opaque.ends_with(ending)) opaque.resize(opaque.size() - ending.size());
    known.push_back(std::move(opaque));
  }
  return known;
}

}  // namespace galley::director

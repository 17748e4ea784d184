// The fields of a request that decide what a face asks: how long the client waits, and which tags
// the client knows.
//
// Threads: none; pure functions.   Source: RFC 7240, 2 and 4.3; RFC 9110, 13.1.2.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"

namespace galley::director {

inline constexpr absl::Duration kAnswerWait = absl::Minutes(5);  // of a client that says nothing
inline constexpr absl::Duration kAnswerWaitMax = absl::Minutes(10);  // longer wishes are cut
inline constexpr size_t kKnownTagsMax = 64;

// The time after which the client wants a 504: "Prefer: wait=10" is ten seconds. The first `wait`
// counts, and one that is malformed is ignored, as RFC 7240 has it.
absl::Duration WaitOf(std::optional<std::string_view> prefer);

// The opaque parts of the strong tags that a 304 may name for this request; at most kKnownTagsMax.
// The tag of a coded body counts where the client accepts the coding now: `W/"5e1f-zstd"` is the
// strong tag "5e1f". A malformed If-None-Match, and "*", name none.
std::vector<std::string> KnownTagsOf(std::optional<std::string_view> if_none_match,
                                     std::optional<std::string_view> accept_encoding);

}  // namespace galley::director

// HeadText: the head of a response as it is sent.
// Threads: HttpDate is owned by one thread.   Source: RFC 9110, 5.6.7 and 6.6.1; RFC 9112, 4, 6,
// 7.1.
#pragma once

#include <cstdint>
#include <string>

#include "absl/time/time.h"
#include "director/serve/http/response_plan.h"

namespace galley::director {

// HttpDate: "Sun, 06 Nov 1994 08:49:37 GMT", written once a second.
class HttpDate {
 public:
  const std::string& At(absl::Time now);

 private:
  int64_t second_ = INT64_MIN;
  std::string text_;
};

struct Framing {
  bool is_chunked = false;
  bool closes = false;  // no further response comes on this connection
};

// The status line, the fields and the empty line.
std::string HeadText(const ResponsePlan& plan, const std::string& date, const Framing& framing);

// A chunk of a chunked body; "" is the last one. REQUIRES: `bytes` is "" only at the end.
std::string ChunkText(std::string_view bytes);

}  // namespace galley::director

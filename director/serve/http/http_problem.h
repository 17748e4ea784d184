// Problems: answers that say what went wrong, as application/problem+json.
//
//   {"package":"/Game/a.png","status":422,"text":"The PNG has no image data.",
//    "title":"Unprocessable Content"}
//
// Threads: none; pure functions.   Source: RFC 9457; RFC 9110, 15.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "director/serve/http/http_answer.h"

namespace galley::director {

struct HttpProblem {
  int status = 500;                // 400 to 599
  std::string text;                // a sentence for people
  std::vector<HttpField> members;  // further members of the object: "package", "log", "root"
  std::optional<absl::Duration> retry_after;  // of 429 and 503: sent in whole seconds, at least one
};

// REQUIRES: no member is called "title", "status" or "text". Bytes that are not UTF-8 are replaced.
HttpAnswer MakeProblem(const HttpProblem& problem);

// The reason phrase of a status, such as "Not Found"; "Unknown" for one that nobody here sends.
std::string_view ReasonOf(int status);

}  // namespace galley::director

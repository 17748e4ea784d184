#include "director/serve/http/http_problem.h"

#include <algorithm>
#include <utility>

#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace galley::director {
namespace {

// Source: RFC 9110, 15; RFC 6585 (429, 431).
constexpr std::pair<int, std::string_view> kReasons[] = {
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {204, "No Content"},
    {206, "Partial Content"},
    {301, "Moved Permanently"},
    {302, "Found"},
    {303, "See Other"},
    {304, "Not Modified"},
    {307, "Temporary Redirect"},
    {308, "Permanent Redirect"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {410, "Gone"},
    {411, "Length Required"},
    {412, "Precondition Failed"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {416, "Range Not Satisfiable"},
    {417, "Expectation Failed"},
    {421, "Misdirected Request"},
    {422, "Unprocessable Content"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
    {505, "HTTP Version Not Supported"},
};

}  // namespace

HttpAnswer MakeProblem(const HttpProblem& problem) {
  nlohmann::json object = {{"title", std::string(ReasonOf(problem.status))},
                           {"status", problem.status},
                           {"text", problem.text}};
  for (const HttpField& member : problem.members) object[member.name] = member.value;
  HttpAnswer answer{.status = problem.status,
                    .content_type = "application/problem+json",
                    .caching = HttpCaching::kNoStore};
  answer.body =
      MakeBlob(object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  if (problem.retry_after) {
    const int64_t seconds =
        absl::ToInt64Seconds(absl::Ceil(*problem.retry_after, absl::Seconds(1)));
    answer.fields.push_back({"Retry-After", fmt::format("{}", std::max<int64_t>(seconds, 1))});
  }
  return answer;
}

std::string_view ReasonOf(int status) {
  const auto* const found =
      std::ranges::lower_bound(kReasons, status, {}, &std::pair<int, std::string_view>::first);
  return found != std::end(kReasons) && found->first == status ? found->second : "Unknown";
}

}  // namespace galley::director

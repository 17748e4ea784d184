#include "director/serve/http/response_head.h"

#include <iterator>
#include <string_view>

#include "common/base/log.h"
#include "director/serve/http/http_problem.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

void AppendField(std::string_view name, std::string_view value, std::string& head) {
  head.append(name).append(": ").append(value).append("\r\n");
}

}  // namespace

const std::string& HttpDate::At(absl::Time now) {
  const int64_t second = absl::ToUnixSeconds(now);
  if (second != second_) {
    second_ = second;
    text_ = absl::FormatTime("%a, %d %b %E4Y %H:%M:%S GMT", now, absl::UTCTimeZone());
  }
  return text_;
}

std::string HeadText(const ResponsePlan& plan, const std::string& date, const Framing& framing) {
  std::string head = fmt::format("HTTP/1.1 {} {}\r\n", plan.status, ReasonOf(plan.status));
  AppendField("Date", date, head);
  for (const HttpField& field : plan.fields)
    AppendField(field.name, EscapeControl(field.value), head);
  if (plan.content_length) {
    fmt::format_to(std::back_inserter(head), "Content-Length: {}\r\n", *plan.content_length);
  }
  if (framing.is_chunked) AppendField("Transfer-Encoding", "chunked", head);
  if (framing.closes) AppendField("Connection", "close", head);
  return head.append("\r\n");
}

std::string ChunkText(std::string_view bytes) {
  if (bytes.empty()) return "0\r\n\r\n";
  return fmt::format("{:x}\r\n{}\r\n", bytes.size(), bytes);
}

}  // namespace galley::director

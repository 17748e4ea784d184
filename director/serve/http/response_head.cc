#include "director/serve/http/response_head.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "common/base/log.h"
#include "director/serve/http/http_problem.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

constexpr size_t kHeadBytesOfFile = 1024;  // what the head of a file needs, with room to spare

void AppendField(std::string_view name, std::string_view value, std::string& head) {
  head.append(name).append(": ").append(value).append("\r\n");
}

// Nearly no value has a control character, and each answer has ten of them.
void AppendEscaped(const HttpField& field, std::string& head) {
  const bool is_plain = std::ranges::none_of(
      field.value, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
  if (is_plain) return AppendField(field.name, field.value, head);
  AppendField(field.name, EscapeControl(field.value), head);
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
  std::string head;
  head.reserve(kHeadBytesOfFile);
  fmt::format_to(std::back_inserter(head), "HTTP/1.1 {} {}\r\n", plan.status,
                 ReasonOf(plan.status));
  AppendField("Date", date, head);
  for (const HttpField& field : plan.fields) AppendEscaped(field, head);
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

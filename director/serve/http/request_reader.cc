#include "director/serve/http/request_reader.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/parse_whole.h"
#include "common/base/status_macros.h"
#include "common/http/field_syntax.h"
#include "common/http/request_target.h"
#include "director/serve/http/parse_head.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

constexpr std::string_view kLineEnd = "\r\n";
constexpr std::string_view kHeadEnd = "\r\n\r\n";
constexpr size_t kIdleCapacityMax = 1024;  // that a reader keeps when it has no bytes

http::Refusal EndingRefusal(int status, std::string text) {
  return {.status = status, .text = std::move(text), .must_close = true};
}

http::Refusal TooLong(std::string_view head) {
  if (head.substr(0, kHeadBytesMax).find(kLineEnd) == std::string_view::npos) {
    return EndingRefusal(414, fmt::format("The first line has more than {} bytes.", kHeadBytesMax));
  }
  return EndingRefusal(
      431, fmt::format("The head of the request has more than {} bytes.", kHeadBytesMax));
}

// The refusal of a head as bytes; nullopt: nothing is wrong so far.
std::optional<http::Refusal> CheckBytes(std::string_view head) {
  if (auto refusal = http::CheckHeadBytes(head)) return refusal;
  // The request line and the empty line are no fields.
  if (std::ranges::count(head, '\n') > static_cast<std::ptrdiff_t>(kHeadFieldsMax + 2)) {
    return EndingRefusal(431, fmt::format("The request has more than {} fields.", kHeadFieldsMax));
  }
  return std::nullopt;
}

// REQUIRES: http::CheckRequest let the method through.
HttpMethod MethodOf(std::string_view name) {
  if (name == "HEAD") return HttpMethod::kHead;
  if (name == "POST") return HttpMethod::kPost;
  return name == "DELETE" ? HttpMethod::kDelete : HttpMethod::kGet;
}

bool KeepsAlive(const http::RequestHead& head) {
  if (head.version != 11) return false;
  const std::string options = http::JoinedValue(head.fields, "connection").value_or("");
  return std::ranges::none_of(http::SplitList(options), [](std::string_view option) {
    return http::EqualsIgnoringCase(option, "close");
  });
}

// REQUIRES: http::CheckRequest let the head through.
uint64_t BodyBytesOf(const http::RequestHead& head) {
  const auto length = http::JoinedValue(head.fields, "content-length");
  return length ? ParseWhole<uint64_t>(http::TrimSpace(*length)).value_or(0) : 0;
}

}  // namespace

RequestReader::Next RequestReader::TakeRequest() {
  if (partial_) return TakeBody();
  if (may_skip_line_ && input_.starts_with(kLineEnd)) {
    DropFront(kLineEnd.size());
    may_skip_line_ = false;
  }
  const size_t size = FindHead();
  if (size == 0 && input_.size() <= kHeadBytesMax) {
    std::string_view begun = input_;
    if (begun.ends_with('\r')) begun.remove_suffix(1);
    if (auto refusal = CheckBytes(begun)) return Refused{.refusal = *std::move(refusal)};
    return NeedsBytes{};
  }
  if (size == 0 || size > kHeadBytesMax) return Refused{.refusal = TooLong(input_)};
  std::variant<Partial, Refused> taken = TakeHead(size);
  may_skip_line_ = true;
  if (auto* const refused = std::get_if<Refused>(&taken)) return std::move(*refused);
  partial_ = std::get<Partial>(std::move(taken));
  return TakeBody();
}

size_t RequestReader::FindHead() {
  const size_t from = searched_bytes_ - std::min(searched_bytes_, kHeadEnd.size() - 1);
  const size_t end = input_.find(kHeadEnd, from);
  if (end != std::string::npos) return end + kHeadEnd.size();
  searched_bytes_ = input_.size();
  return 0;
}

std::variant<RequestReader::Partial, RequestReader::Refused> RequestReader::TakeHead(size_t size) {
  const Blob bytes = MakeBlob(input_.substr(0, size));
  DropFront(size);
  if (auto refusal = CheckBytes(*bytes)) return Refused{.refusal = *std::move(refusal)};
  std::variant<http::RequestHead, http::Refusal> parsed = ParseHead(*bytes);
  if (auto* const refusal = std::get_if<http::Refusal>(&parsed))
    return Refused{.refusal = std::move(*refusal)};
  auto& head = std::get<http::RequestHead>(parsed);
  const bool is_head = head.method == "HEAD";
  const bool ends = !KeepsAlive(head);
  if (auto refusal = http::CheckRequest(head, rules_)) {
    refusal->must_close = refusal->must_close || ends;
    return Refused{.refusal = *std::move(refusal), .is_head = is_head};
  }
  if (http::JoinedValue(head.fields, "transfer-encoding"))
    return Refused{.refusal = EndingRefusal(411, "The body has no Content-Length.")};
  const uint64_t body_bytes = BodyBytesOf(head);
  absl::StatusOr<http::RequestTarget> target = http::ParseRequestTarget(head.target);
  if (!target.ok()) {
    return Refused{.refusal = {.status = 400,
                               .text = MessageOf(target.status()),
                               .must_close = ends || body_bytes > 0},
                   .is_head = is_head};
  }
  Partial partial{.missing_bytes = body_bytes};
  partial.received.keeps_alive = !ends;
  partial.received.may_chunk = head.version == 11;
  partial.received.request.method = MethodOf(head.method);
  partial.received.request.target = *std::move(target);
  partial.received.request.fields = std::move(head.fields);
  partial.received.request.head = bytes;
  return partial;
}

RequestReader::Next RequestReader::TakeBody() {
  const size_t here = std::min<uint64_t>(partial_->missing_bytes, input_.size());
  partial_->received.request.body.append(input_, 0, here);
  partial_->missing_bytes -= here;
  DropFront(here);
  if (partial_->missing_bytes > 0) return NeedsBytes{};
  Received received = std::move(partial_->received);
  partial_.reset();
  return received;
}

void RequestReader::DropFront(size_t bytes) {
  searched_bytes_ = 0;
  input_.erase(0, bytes);
  if (input_.empty() && input_.capacity() > kIdleCapacityMax) input_ = std::string();
}

}  // namespace galley::director

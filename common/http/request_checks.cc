#include "common/http/request_checks.h"

#include <algorithm>
#include <array>
#include <utility>

#include "common/base/parse_whole.h"
#include "common/http/request_target.h"
#include "fmt/format.h"

namespace galley::http {
namespace {

constexpr std::array<std::string_view, 4> kMethods = {"GET", "HEAD", "POST", "DELETE"};

using Checked = std::optional<Refusal>;

// The connection ends, whatever the request has.
Refusal Broken(int status, std::string text) {
  return {.status = status, .text = std::move(text), .must_close = true};
}

// The connection goes on, unless the request has a body.
Refusal Refused(int status, std::string text) {
  return {.status = status, .text = std::move(text), .must_close = false};
}

std::vector<std::string_view> ValuesOf(const RequestHead& head, std::string_view name) {
  std::vector<std::string_view> values;
  for (const Field& field : head.fields) {
    if (EqualsIgnoringCase(field.name, name)) values.push_back(TrimSpace(field.value));
  }
  return values;
}

// Whether bytes of a body follow. REQUIRES: the framing was checked.
bool HasBody(const RequestHead& head) {
  if (!ValuesOf(head, "transfer-encoding").empty()) return true;
  const auto lengths = ValuesOf(head, "content-length");
  return !lengths.empty() && lengths[0].find_first_not_of('0') != std::string_view::npos;
}

Checked CheckVersion(const RequestHead& head) {
  if (head.version == 10 || head.version == 11) return std::nullopt;
  return Broken(505, "The version of the request is neither HTTP/1.0 nor HTTP/1.1.");
}

Checked CheckFields(const RequestHead& head) {
  const auto is_control = [](char c) {
    return (static_cast<uint8_t>(c) < 0x20 && c != '\t') || c == 0x7f;
  };
  for (const Field& field : head.fields) {
    if (!IsToken(field.name)) return Broken(400, "The name of a field is not a token.");
    if (std::ranges::any_of(field.value, is_control)) {
      return Broken(400, fmt::format("The field {} has a control character.", field.name));
    }
  }
  return std::nullopt;
}

Checked CheckTransferEncoding(const RequestHead& head) {
  const auto values = ValuesOf(head, "transfer-encoding");
  if (values.empty()) return std::nullopt;
  if (values.size() > 1) return Broken(400, "The request has several Transfer-Encoding fields.");
  if (head.version == 10) return Broken(400, "A request of HTTP/1.0 has a Transfer-Encoding.");
  if (!ValuesOf(head, "content-length").empty()) {
    return Broken(400, "The request has both a Transfer-Encoding and a Content-Length.");
  }
  if (EqualsIgnoringCase(values[0], "chunked")) return std::nullopt;
  const auto codings = SplitList(values[0]);
  const auto is_chunked = [](std::string_view coding) {
    return EqualsIgnoringCase(coding, "chunked");
  };
  if (codings.empty() || !is_chunked(codings.back()) ||
      std::ranges::count_if(codings, is_chunked) > 1) {
    return Broken(400, "The Transfer-Encoding does not end with one coding that is chunked.");
  }
  if (codings.size() == 1) return Broken(400, "The Transfer-Encoding has an empty element.");
  return Broken(501, "The Transfer-Encoding has another coding than chunked.");
}

Checked CheckContentLength(const RequestHead& head) {
  const auto values = ValuesOf(head, "content-length");
  if (values.size() > 1) return Broken(400, "The request has several Content-Length fields.");
  if (!values.empty() && !IsDigits(values[0])) {
    return Broken(400, "The Content-Length is not a decimal number.");
  }
  return std::nullopt;
}

Checked CheckHost(const RequestHead& head, const RequestRules& rules) {
  const auto values = ValuesOf(head, "host");
  if (values.empty()) return Refused(400, "The request has no Host.");
  if (values.size() > 1) return Broken(400, "The request has several Host fields.");
  const std::optional<Host> host = ParseHost(values[0]);
  if (!host) return Refused(400, "The Host is not a name or an address with or without a port.");
  if (IsAllowedHost(*host, rules.allowed_hosts, rules.default_port)) return std::nullopt;
  return Refused(421, fmt::format("This server does not answer for the host {}.", values[0]));
}

Checked CheckMethod(const RequestHead& head) {
  if (std::ranges::find(kMethods, head.method) != kMethods.end()) return std::nullopt;
  return Refused(501, "The method is none of GET, HEAD, POST and DELETE.");
}

Checked CheckTargetLength(const RequestHead& head) {
  if (head.target.size() <= kTargetBytesMax) return std::nullopt;
  return Refused(414, fmt::format("The target has {} bytes; at most {} are allowed.",
                                  head.target.size(), kTargetBytesMax));
}

Checked CheckBody(const RequestHead& head) {
  const auto lengths = ValuesOf(head, "content-length");
  // A number that 64 bits do not hold is too long as well.
  if (!lengths.empty() && ParseWhole<uint64_t>(lengths[0]).value_or(UINT64_MAX) > kBodyBytesMax) {
    return Refused(413, fmt::format("The body has more than {} bytes.", kBodyBytesMax));
  }
  if (head.method == "POST" || !HasBody(head)) return std::nullopt;
  return Refused(400, fmt::format("A request with the method {} has a body.", head.method));
}

Checked CheckExpectation(const RequestHead& head) {
  if (head.version == 10 || ValuesOf(head, "expect").empty()) return std::nullopt;
  return Refused(417, "The request has an Expect; this server sends no interim answers.");
}

// The checks that come once it is known whether a body follows.
Checked CheckMeaning(const RequestHead& head, const RequestRules& rules) {
  if (auto refusal = CheckHost(head, rules)) return refusal;
  for (const auto check : {CheckMethod, CheckTargetLength, CheckBody, CheckExpectation}) {
    if (auto refusal = check(head)) return refusal;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Refusal> CheckHeadBytes(std::string_view head) {
  char before = '\n';  // the first byte begins a line
  for (const char c : head) {
    if (c == '\0') return Broken(400, "The head of the request has a NUL.");
    if (before == '\n' && (c == ' ' || c == '\t')) {
      return Broken(400, "A line of the request's head begins with a space or a tab.");
    }
    if ((before == '\r') != (c == '\n')) {
      return Broken(400, "The head of the request has a CR or an LF without the other.");
    }
    before = c;
  }
  if (before == '\r') return Broken(400, "The head of the request ends with a CR.");
  return std::nullopt;
}

std::optional<Refusal> CheckRequest(const RequestHead& head, const RequestRules& rules) {
  for (const auto check : {CheckVersion, CheckFields, CheckTransferEncoding, CheckContentLength}) {
    if (auto refusal = check(head)) return refusal;
  }
  std::optional<Refusal> refusal = CheckMeaning(head, rules);
  if (refusal && HasBody(head)) refusal->must_close = true;
  return refusal;
}

}  // namespace galley::http

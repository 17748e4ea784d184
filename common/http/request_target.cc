#include "common/http/request_target.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "common/base/errors.h"
#include "common/base/parse_whole.h"
#include "common/base/status_macros.h"
#include "common/base/utf8.h"

namespace galley::http {
namespace {

std::optional<char> DecodeEscape(std::string_view digits) {
  if (digits.size() != 2) return std::nullopt;
  const std::optional<uint8_t> byte = ParseWhole<uint8_t>(digits, 16);
  if (!byte) return std::nullopt;
  return static_cast<char>(*byte);
}

// `text` with its escapes decoded, once: "%2541" is "%41".
absl::StatusOr<std::string> DecodeEscapes(std::string_view text) {
  std::string decoded;
  decoded.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i];
      continue;
    }
    const std::optional<char> byte = DecodeEscape(text.substr(i + 1, 2));
    if (!byte) {
      return InvalidArgumentError(
          "The target has a '%' that is not followed by two hexadecimal digits.");
    }
    decoded += *byte;
    i += 2;
  }
  return decoded;
}

absl::Status CheckSpelling(std::string_view target) {
  if (target.size() > kTargetBytesMax) {
    return InvalidArgumentError("The target has {} bytes; at most {} are allowed.", target.size(),
                                kTargetBytesMax);
  }
  if (target.empty()) return InvalidArgumentError("The target is empty.");
  if (target == "*") {
    return InvalidArgumentError("The target is '*'; a path that begins with '/' is expected.");
  }
  if (target[0] != '/') {
    return InvalidArgumentError(
        "The target does not begin with '/': neither a whole URL nor a host and port is accepted.");
  }
  const auto is_printable = [](char c) { return c > 0x20 && c < 0x7f; };
  if (!std::ranges::all_of(target, is_printable)) {
    return InvalidArgumentError(
        "The target has a space, a control character or a byte above 0x7e that is not escaped.");
  }
  if (target.find('#') != std::string_view::npos) {
    return InvalidArgumentError("The target has a '#'; in a path it is written %23.");
  }
  return absl::OkStatus();
}

absl::Status CheckSegment(std::string_view segment) {
  if (segment.empty()) return InvalidArgumentError("The path has an empty segment.");
  if (segment == "." || segment == "..") {
    return InvalidArgumentError("The path has a segment '{}'.", segment);
  }
  if (segment.find('/') != std::string_view::npos) {
    return InvalidArgumentError("The path has an escaped slash inside a segment.");
  }
  if (segment.find('\\') != std::string_view::npos) {
    return InvalidArgumentError("The path has a backslash.");
  }
  const auto is_control = [](char c) { return static_cast<uint8_t>(c) < 0x20 || c == 0x7f; };
  if (std::ranges::any_of(segment, is_control)) {
    return InvalidArgumentError("The path has a control character.");
  }
  if (!IsUtf8(segment)) return InvalidArgumentError("The path is not valid UTF-8.");
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<RequestTarget> ParseRequestTarget(std::string_view target) {
  RETURN_IF_ERROR(CheckSpelling(target));
  RequestTarget parsed;
  const size_t question_mark = target.find('?');
  if (question_mark != std::string_view::npos) {
    parsed.query = target.substr(question_mark + 1);
    RETURN_IF_ERROR(DecodeEscapes(*parsed.query).status());
  }
  std::string_view path = target.substr(1, question_mark - 1);
  if (path.empty()) return parsed;
  while (true) {
    const size_t slash = path.find('/');
    ASSIGN_OR_RETURN(std::string segment, DecodeEscapes(path.substr(0, slash)));
    RETURN_IF_ERROR(CheckSegment(segment));
    parsed.segments.push_back(std::move(segment));
    if (slash == std::string_view::npos) return parsed;
    path.remove_prefix(slash + 1);
  }
}

}  // namespace galley::http

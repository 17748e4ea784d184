#include "worker/cookers/mesh/uri.h"

#include <cstdint>

#include "common/base/status_macros.h"
#include "worker/cookers/verdict_error.h"

namespace galley::worker::mesh {
namespace {

constexpr size_t kShownMax = 60;

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// The value of a digit of RFC 4648, section 4; -1: no such digit.
int Base64Digit(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+') return 62;
  if (c == '/') return 63;
  return -1;
}

absl::StatusOr<std::string> DecodeBase64(std::string_view text) {
  for (int padding = 0; padding < 2 && text.ends_with('='); ++padding) text.remove_suffix(1);
  if (text.size() % 4 == 1) return VerdictError("base64 data ends in the middle of a byte");
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3 + 2);
  uint32_t bits = 0;
  int bit_count = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const int digit = Base64Digit(text[i]);
    if (digit < 0) return VerdictError("base64 data has a bad character at {}", i);
    bits = bits << 6 | static_cast<uint32_t>(digit);
    bit_count += 6;
    if (bit_count < 8) continue;
    bit_count -= 8;
    bytes.push_back(static_cast<char>(bits >> bit_count & 0xFF));
  }
  return bytes;
}

// Whether `uri` begins with ALPHA *( ALPHA / DIGIT / "+" / "-" / "." ) ":".
bool HasScheme(std::string_view uri) {
  for (size_t i = 0; i < uri.size(); ++i) {
    const char c = uri[i];
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (c == ':') return i > 0;
    if (!is_letter && (i == 0 || !((c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.')))
      return false;
  }
  return false;
}

}  // namespace

absl::StatusOr<std::string> DecodePercent(std::string_view text) {
  std::string decoded;
  decoded.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded.push_back(text[i]);
      continue;
    }
    const int high = text.size() - i > 2 ? HexDigit(text[i + 1]) : -1;
    const int low = text.size() - i > 2 ? HexDigit(text[i + 2]) : -1;
    if (high < 0 || low < 0)
      return VerdictError("\"%\" at {} is not followed by two hexadecimal digits", i);
    decoded.push_back(static_cast<char>(high * 16 + low));
    i += 2;
  }
  return decoded;
}

absl::StatusOr<std::string> PathOfUri(std::string_view uri) {
  if (uri.empty()) return VerdictError("an empty URI; expected a relative path");
  if (HasScheme(uri)) {
    return VerdictError("\"{}\" is not a relative path; put the file beside the source",
                        uri.substr(0, kShownMax));
  }
  return DecodePercent(uri);
}

absl::StatusOr<DataUri> ParseDataUri(std::string_view uri) {
  constexpr std::string_view kBase64 = ";base64";
  uri.remove_prefix(std::string_view("data:").size());
  const size_t comma = uri.find(',');
  if (comma == std::string_view::npos) return VerdictError("a data URI without a comma");
  std::string_view head = uri.substr(0, comma);
  const bool is_base64 = head.ends_with(kBase64);
  if (is_base64) head.remove_suffix(kBase64.size());
  DataUri data{.media_type = std::string(head.substr(0, head.find(';'))), .bytes = {}};
  ASSIGN_OR_RETURN(data.bytes, DecodePercent(uri.substr(comma + 1)));
  if (is_base64) {
    ASSIGN_OR_RETURN(data.bytes, DecodeBase64(data.bytes));
  }
  return data;
}

}  // namespace galley::worker::mesh

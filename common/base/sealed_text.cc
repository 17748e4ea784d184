#include "common/base/sealed_text.h"

#include <cstdint>
#include <optional>

#include "common/base/digest.h"
#include "common/base/errors.h"
#include "fmt/format.h"

namespace galley {
namespace {

constexpr std::string_view kSum = "sum ";

std::string Escape(std::string_view value) {
  std::string escaped;
  for (const char c : value) {
    const auto byte = static_cast<uint8_t>(c);
    if (byte < 0x20 || byte == 0x7f || c == '\\') {
      escaped += fmt::format("\\x{:02x}", byte);
    } else {
      escaped.push_back(c);
    }
  }
  return escaped;
}

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

std::optional<std::string> Unescape(std::string_view escaped) {
  std::string value;
  for (size_t at = 0; at < escaped.size(); ++at) {
    if (escaped[at] != '\\') {
      value.push_back(escaped[at]);
      continue;
    }
    if (at + 3 >= escaped.size() || escaped[at + 1] != 'x') return std::nullopt;
    const int high = HexValue(escaped[at + 2]);
    const int low = HexValue(escaped[at + 3]);
    if (high < 0 || low < 0) return std::nullopt;
    value.push_back(static_cast<char>(high * 16 + low));
    at += 3;
  }
  return value;
}

}  // namespace

std::string Seal(std::string_view kind, int version, const std::vector<SealedLine>& lines) {
  std::string text = fmt::format("{} {}\n", kind, version);
  for (const SealedLine& line : lines) text += fmt::format("{} {}\n", line.key, Escape(line.value));
  return text + fmt::format("{}{}\n", kSum, Digest::Of(text).hex());
}

absl::StatusOr<std::vector<SealedLine>> Unseal(std::string_view kind, int version,
                                               std::string_view text) {
  const absl::Status damaged = DataLossError("it is no whole {} file", kind);
  if (!text.ends_with('\n')) return damaged;
  const std::string_view body_and_sum = text.substr(0, text.size() - 1);
  const size_t last = body_and_sum.rfind('\n');
  if (last == std::string_view::npos) return damaged;
  std::string_view body = text.substr(0, last + 1);
  const std::string_view sum = body_and_sum.substr(last + 1);
  if (!sum.starts_with(kSum) || sum.substr(kSum.size()) != Digest::Of(body).hex()) return damaged;
  const size_t first = body.find('\n');
  const std::string_view head = body.substr(0, first);
  if (!head.starts_with(fmt::format("{} ", kind))) return damaged;
  if (head != fmt::format("{} {}", kind, version)) {
    return FailedPreconditionError("it is of another version ({}); this program reads {}", head,
                                   version);
  }
  std::vector<SealedLine> lines;
  for (body.remove_prefix(first + 1); !body.empty();) {
    const std::string_view line = body.substr(0, body.find('\n'));
    body.remove_prefix(line.size() + 1);
    const size_t space = line.find(' ');
    if (space == std::string_view::npos) return damaged;
    std::optional<std::string> value = Unescape(line.substr(space + 1));
    if (!value) return damaged;
    lines.push_back({std::string(line.substr(0, space)), *std::move(value)});
  }
  return lines;
}

std::string_view ValueOf(const std::vector<SealedLine>& lines, std::string_view key) {
  for (const SealedLine& line : lines) {
    if (line.key == key) return line.value;
  }
  return {};
}

}  // namespace galley

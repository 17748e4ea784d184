#include "director/logs/log_record.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>

#include "common/base/digest.h"
#include "common/base/plain_text.h"
#include "common/base/utf8.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

// Four bytes stand for one byte that does not show.
constexpr size_t kWrittenBytesMax = 5 * kLogTextBytesMax;
constexpr size_t kStemBytesMax = 120;
constexpr size_t kStemDigits = 16;  // digits of the digest that ends a shortened stem

constexpr std::array<std::string_view, 3> kFromNames = {"worker", "output", "director"};
constexpr std::array<std::string_view, 4> kLevelNames = {"debug", "info", "warning", "error"};

// Says whether a character does not show, or changes how the next characters show. Source: Unicode
// 15, table 23-3 (bidirectional ordering controls), and the separators of lines and paragraphs.
bool IsControl(char32_t point) {
  return point < 0x20 || (point >= 0x7f && point <= 0x9f) || point == 0x61c ||
         (point >= 0x200e && point <= 0x200f) || (point >= 0x2028 && point <= 0x202e) ||
         (point >= 0x2066 && point <= 0x2069);
}

std::string TextOf(const nlohmann::json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_string()) return "";
  return PrintableLine(found->get_ref<const std::string&>(), kWrittenBytesMax);
}

std::optional<absl::Time> TimeOf(const nlohmann::json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_number_integer()) return std::nullopt;
  return absl::FromUnixMicros(found->get<int64_t>());
}

template <typename Names>
size_t PlaceOf(const Names& names, std::string_view name, size_t otherwise) {
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) return i;
  }
  return otherwise;
}

}  // namespace

std::string_view LogFromName(LogRecord::From from) { return kFromNames[static_cast<size_t>(from)]; }

std::string_view LogLevelName(LogLevel level) {
  return kLevelNames[std::min(static_cast<size_t>(level), kLevelNames.size() - 1)];
}

LogLevel LogLevelOf(std::string_view name) {
  return static_cast<LogLevel>(PlaceOf(kLevelNames, name, static_cast<size_t>(LogLevel::kInfo)));
}

std::string PrintableLine(std::string_view text, size_t bytes_max) {
  const bool is_cut = text.size() > bytes_max;
  text = text.substr(0, bytes_max);
  std::string line;
  line.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    const std::optional<char32_t> point = NextCodePoint(text, at);
    if (!point.has_value()) {
      // A character that was cut through at the end does not count.
      if (is_cut && text.size() - begin < 4) break;
      line += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[at++]));
    } else if (!IsControl(*point)) {
      line += text.substr(begin, at - begin);
    } else if (*point < 0x80) {
      line += fmt::format("\\x{:02x}", static_cast<uint32_t>(*point));
    } else {
      line += fmt::format("\\u{{{:x}}}", static_cast<uint32_t>(*point));
    }
  }
  return is_cut ? line + "..." : line;
}

std::string EncodeLogRecord(const LogRecord& record) {
  nlohmann::json json = {{"time_us", absl::ToUnixMicros(record.time)},
                         {"worker", PrintableLine(record.worker, kLogNameBytesMax)},
                         {"from", LogFromName(record.from)},
                         {"level", LogLevelName(record.level)},
                         {"text", PrintableLine(record.text)}};
  if (!record.machine.empty()) json["machine"] = PrintableLine(record.machine, kLogNameBytesMax);
  if (record.attempt != 0) json["attempt"] = record.attempt;
  if (!record.package.empty()) json["package"] = PrintableLine(record.package, kLogNameBytesMax);
  if (record.since != absl::InfinitePast()) json["since_us"] = absl::ToUnixMicros(record.since);
  return json.dump() + "\n";
}

absl::StatusOr<LogRecord> DecodeLogRecord(std::string_view line) {
  const nlohmann::json json = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return absl::InvalidArgumentError("no JSON object");
  const std::optional<absl::Time> time = TimeOf(json, "time_us");
  LogRecord record{.worker = TextOf(json, "worker"),
                   .machine = TextOf(json, "machine"),
                   .package = TextOf(json, "package"),
                   .text = TextOf(json, "text")};
  if (!time.has_value() || record.worker.empty())
    return absl::InvalidArgumentError("expected time_us and worker");
  record.time = *time;
  record.from = static_cast<LogRecord::From>(PlaceOf(kFromNames, TextOf(json, "from"), 0));
  record.level = LogLevelOf(TextOf(json, "level"));
  if (const auto attempt = json.find("attempt");
      attempt != json.end() && attempt->is_number_unsigned())
    record.attempt = attempt->get<uint64_t>();
  record.since = TimeOf(json, "since_us").value_or(absl::InfinitePast());
  return record;
}

std::string LogFileStem(std::string_view worker) {
  std::string stem;
  for (const char c : worker) {
    stem += IsAlphanumericOr(c, "-_") ? std::string(1, c)
                                      : fmt::format("%{:02x}", static_cast<unsigned char>(c));
  }
  if (stem.size() <= kStemBytesMax) return stem;
  const std::string digest = Digest::Of(worker).ToString();
  return stem.substr(0, kStemBytesMax - kStemDigits - 1) + "+" + digest.substr(0, kStemDigits);
}

}  // namespace galley::director

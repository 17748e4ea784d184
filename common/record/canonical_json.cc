#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "common/base/errors.h"
#include "common/record/recipe.h"

namespace galley::record {
namespace {

constexpr size_t kDepthMax = 64;

std::string Quoted(std::string_view text) {
  static constexpr std::string_view kShort = "\b\t\n\f\r\"\\";
  static constexpr std::string_view kLetter = "btnfr\"\\";
  std::string out = "\"";
  for (const char c : text) {
    if (const size_t at = kShort.find(c); at != std::string_view::npos) {
      out += {'\\', kLetter[at]};
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

// Finite. What is a whole number in the range of 64-bit integers is written as one, so that 1.0 and
// 1 are the same setting.
std::string NumberText(double value) {
  if (value == std::trunc(value)) {
    if (value >= -0x1p63 && value < 0x1p63) return std::to_string(static_cast<int64_t>(value));
    if (value >= 0 && value < 0x1p64) return std::to_string(static_cast<uint64_t>(value));
  }
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), value);
  return std::string(buffer, end.ptr);
}

// Takes the parser's events; keeps the canonical text of what is complete, and the open arrays and
// objects.
class Canonicaliser : public nlohmann::json_sax<nlohmann::json> {
 public:
  bool null() override { return Add("null"); }
  bool boolean(bool value) override { return Add(value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override { return Add(std::to_string(value)); }
  bool number_unsigned(number_unsigned_t value) override { return Add(std::to_string(value)); }
  bool number_float(number_float_t value, const string_t& text) override {
    return std::isfinite(value) ? Add(NumberText(value))
                                : Fail(fmt::format("{} is out of range", text));
  }
  bool string(string_t& text) override { return Add(Quoted(text)); }
  bool binary(binary_t&) override { return Fail("binary values are not JSON"); }
  bool start_object(std::size_t) override { return Open(true); }
  bool start_array(std::size_t) override { return Open(false); }
  bool key(string_t& text) override {
    Frame& frame = open_.back();
    if (frame.members.contains(text))
      return Fail(fmt::format("key {} is there twice", Quoted(text)));
    frame.key = text;
    return true;
  }
  bool end_object() override {
    std::string text;
    for (const auto& [name, value] : open_.back().members) {
      text += (text.empty() ? "" : ",") + Quoted(name) + ":" + value;
    }
    open_.pop_back();
    return Add("{" + text + "}");
  }
  bool end_array() override {
    std::string text = std::move(open_.back().elements);
    open_.pop_back();
    return Add("[" + text + "]");
  }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& error) override {
    // The library's text begins with an identifier of its own in brackets.
    std::string_view text = error.what();
    if (const size_t bracket = text.find("] "); bracket != std::string_view::npos)
      text.remove_prefix(bracket + 2);
    return Fail(fmt::format("byte {}: {}", position, text));
  }

  const std::string& text() const { return text_; }
  const std::string& error() const { return error_; }

 private:
  struct Frame {
    bool is_object = false;
    std::string key;                             // of the member that is being read
    std::map<std::string, std::string> members;  // by bytes of the name
    std::string elements;                        // with commas between
  };

  bool Open(bool is_object) {
    if (open_.size() == kDepthMax)
      return Fail(fmt::format("nested more than {} levels deep", kDepthMax));
    open_.emplace_back().is_object = is_object;
    return true;
  }

  bool Add(std::string text) {
    if (open_.empty()) {
      text_ = std::move(text);
    } else if (Frame& frame = open_.back(); frame.is_object) {
      frame.members.emplace(std::move(frame.key), std::move(text));
    } else {
      frame.elements += (frame.elements.empty() ? "" : ",") + text;
    }
    return true;
  }

  bool Fail(std::string error) {
    error_ = std::move(error);
    return false;
  }

  std::vector<Frame> open_;
  std::string text_;
  std::string error_;
};

}  // namespace

absl::StatusOr<std::string> CanonicalJson(std::string_view json) {
  Canonicaliser canonicaliser;
  if (nlohmann::json::sax_parse(json, &canonicaliser)) return canonicaliser.text();
  return InvalidArgumentError("JSON: {}", canonicaliser.error());
}

}  // namespace galley::record

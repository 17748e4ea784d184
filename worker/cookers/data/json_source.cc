#include "worker/cookers/data/json_source.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "common/base/log.h"
#include "fmt/format.h"
#include "worker/cookers/source/foreign_source.h"

namespace galley::worker {
namespace {

using Json = nlohmann::json;

// The size limit of a reason in an error: the parser quotes whole tokens, and a token may be as
// long as the file.
constexpr size_t kReasonBytesMax = 300;

std::string Shortened(std::string reason) {
  if (reason.size() <= kReasonBytesMax) return reason;
  size_t end = kReasonBytesMax;
  while (end > 0 && (static_cast<uint8_t>(reason[end]) & 0xC0) == 0x80)
    --end;  // `end` is within a character
  reason.resize(end);
  return reason + "...";
}

// "line 3, column 7" for the byte at `offset`.
std::string Place(std::string_view text, size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const auto line = 1 + std::ranges::count(before, '\n');
  const size_t newline = before.rfind('\n');
  const size_t column = newline == std::string_view::npos ? offset + 1 : offset - newline;
  return fmt::format("line {}, column {}", line, column);
}

// Hands out the bytes of a text and tells how many it gave: the parser tells neither line nor
// column of a key.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, const char** reached) : at_(at), reached_(reached) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    *reached_ = ++at_;
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator old = *this;
    ++*this;
    return old;
  }
  bool operator==(const CountingIterator& other) const { return at_ == other.at_; }

 private:
  const char* at_;
  const char** reached_;
};

// Builds the value; stops at the first error.
class Builder : public nlohmann::json_sax<Json> {
 public:
  Builder(std::string_view text, const char** reached) : text_(text), reached_(reached) {}

  Json TakeValue() { return std::move(root_); }
  const std::string& error() const { return error_; }

  bool null() override { return Put(nullptr); }
  bool boolean(bool value) override { return Put(value); }
  bool number_integer(number_integer_t value) override { return Put(value); }
  bool number_unsigned(number_unsigned_t value) override { return Put(value); }
  bool number_float(number_float_t value, const string_t&) override { return Put(value); }
  bool string(string_t& value) override { return Put(std::move(value)); }
  bool binary(binary_t&) override { return false; }  // JSON text has no binary values
  bool start_object(size_t) override { return Open(Json::object()); }
  bool start_array(size_t) override { return Open(Json::array()); }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }

  bool key(string_t& name) override {
    Json& object = *open_.back();
    if (object.contains(name)) {
      // The parser has just read the closing quote.
      return Fail(Offset(),
                  fmt::format("the object has the key \"{}\" twice", EscapeControl(name)));
    }
    member_ = &object[name];
    return true;
  }

  bool parse_error(size_t, const std::string& last_token,
                   const nlohmann::detail::exception& error) override {
    if (!error_.empty()) return false;
    std::string_view what = error.what();
    if (error.id == 406) {
      return Fail(Offset(), fmt::format("the number {} is too large", EscapeControl(last_token)));
    }
    // `what` is "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error
    // while ...": the place is replaced by our own.
    if (const size_t place = what.find("column "); place != std::string_view::npos) {
      if (const size_t colon = what.find(": ", place); colon != std::string_view::npos)
        what = what.substr(colon + 2);
    }
    return Fail(Offset(), std::string(what));
  }

 private:
  size_t Offset() const {
    const auto read = static_cast<size_t>(*reached_ - text_.data());
    return read == 0 ? 0 : read - 1;
  }

  bool Fail(size_t offset, std::string reason) {
    error_ = fmt::format("{}: {}", Place(text_, offset), Shortened(std::move(reason)));
    return false;
  }

  template <typename Value>
  bool Put(Value&& value) {
    Attach(Json(std::forward<Value>(value)));
    return true;
  }

  Json* Attach(Json value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    if (open_.back()->is_array()) {
      open_.back()->push_back(std::move(value));
      return &open_.back()->back();
    }
    *member_ = std::move(value);
    return member_;
  }

  bool Open(Json container) {
    if (open_.size() == kJsonDepthMax) {
      return Fail(Offset(), fmt::format("arrays and objects nest deeper than {}", kJsonDepthMax));
    }
    open_.push_back(Attach(std::move(container)));
    return true;
  }

  bool Close() {
    open_.pop_back();
    return true;
  }

  const std::string_view text_;
  const char** const reached_;
  Json root_;
  std::vector<Json*> open_;  // from the root to the innermost container
  Json* member_ = nullptr;   // where the next value goes when the innermost is an object
  std::string error_;
};

// Whether `text`, after white space, begins with the first character of a JSON value.
bool BeginsAsJson(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  return begin == std::string_view::npos ||
         std::string_view("{[\"-0123456789tfn").find(text[begin]) != std::string_view::npos;
}

absl::Status Refuse(const std::string& reason) { return absl::InvalidArgumentError(reason); }

}  // namespace

absl::StatusOr<Json> ParseJsonSource(std::string_view text) {
  if (text.empty()) return Refuse("the file is empty; expected a JSON value");
  if (const absl::Status mine = CheckNoOtherCookers("JSON", text); !mine.ok()) return mine;
  if (text.size() > kJsonBytesMax) {
    return Refuse(
        fmt::format("the file has {} bytes; JSON may have at most {}", text.size(), kJsonBytesMax));
  }
  if (text.starts_with("\xEF\xBB\xBF")) {
    return Refuse(
        "line 1, column 1: the file begins with a byte order mark (EF BB BF); save it as UTF-8 "
        "without one");
  }
  // The parser would take NUL for the end of the text.
  if (const size_t nul = text.find('\0'); nul != std::string_view::npos) {
    return Refuse(fmt::format("{}: a NUL byte; expected JSON text in UTF-8", Place(text, nul)));
  }
  const char* reached = text.data();
  Builder builder(text, &reached);
  const bool ok = Json::sax_parse(CountingIterator(text.data(), &reached),
                                  CountingIterator(text.data() + text.size(), &reached), &builder);
  if (!ok && !BeginsAsJson(text)) return ForeignSource("JSON", text);
  if (!ok) return Refuse(builder.error().empty() ? "not JSON" : builder.error());
  return builder.TakeValue();
}

}  // namespace galley::worker

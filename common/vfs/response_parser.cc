#include "common/vfs/response_parser.h"

#include <algorithm>

#include "common/vfs/blob_id.h"

namespace galley::vfs {
namespace {

constexpr uint64_t kChunkBytesMax = uint64_t{1} << 40;

bool IsTokenByte(char c) {
  constexpr std::string_view kOthers = "!#$%&'*+-.^_`|~";
  const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  return is_letter || (c >= '0' && c <= '9') || kOthers.find(c) != std::string_view::npos;
}

bool IsControl(char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f; }

std::string_view Trim(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

std::optional<uint64_t> ParseHexNumber(std::string_view text) {
  if (text.empty() || text.size() > 16) return std::nullopt;
  uint64_t number = 0;
  for (const char c : Lower(text)) {
    const size_t digit = std::string_view("0123456789abcdef").find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    number = number << 4 | digit;
  }
  return number;
}

}  // namespace

std::string_view ResponseHead::Find(std::string_view name) const {
  for (const auto& [field, value] : fields) {
    if (field == name) return value;
  }
  return {};
}

void ResponseParser::Fail(std::string error) {
  state_ = State::kFailed;
  error_ = std::move(error);
}

std::optional<uint64_t> ResponseParser::left() const {
  if (part_ != Part::kLength) return std::nullopt;
  return left_;
}

size_t ResponseParser::Feed(std::string_view bytes, std::string& body) {
  size_t taken = 0;
  while (taken < bytes.size() && (state_ == State::kHead || state_ == State::kBody)) {
    const std::string_view rest = bytes.substr(taken);
    const bool is_data =
        part_ == Part::kLength || part_ == Part::kUntilEnd || part_ == Part::kChunk;
    taken += is_data ? FeedBytes(rest, body) : FeedLine(rest);
  }
  return taken;
}

size_t ResponseParser::FeedBytes(std::string_view bytes, std::string& body) {
  if (part_ == Part::kUntilEnd) {
    body += bytes;
    return bytes.size();
  }
  const auto taken = static_cast<size_t>(std::min<uint64_t>(left_, bytes.size()));
  body += bytes.substr(0, taken);
  left_ -= taken;
  if (left_ == 0 && part_ == Part::kLength) state_ = State::kDone;
  if (left_ == 0 && part_ == Part::kChunk) part_ = Part::kChunkEnd;
  return taken;
}

// Takes bytes up to the end of the line.
size_t ResponseParser::FeedLine(std::string_view bytes) {
  const size_t end = bytes.find('\n');
  const size_t taken = end == std::string_view::npos ? bytes.size() : end + 1;
  head_bytes_ += taken;
  if (head_bytes_ > kHeadBytesMax) {
    Fail("the head of the answer is too long");
    return taken;
  }
  line_ += bytes.substr(0, taken);
  if (end == std::string_view::npos) return taken;
  if (line_.size() < 2 || line_[line_.size() - 2] != '\r') {
    Fail("a line of the answer does not end in CR LF");
    return taken;
  }
  line_.resize(line_.size() - 2);
  if (std::ranges::any_of(line_, IsControl)) {
    Fail("the head of the answer has control characters");
    return taken;
  }
  TakeLine();
  line_.clear();
  return taken;
}

void ResponseParser::TakeLine() {
  switch (part_) {
    case Part::kStatus:
      return TakeStatus();
    case Part::kFields:
      return line_.empty() ? TakeHeadEnd() : TakeField();
    case Part::kChunkSize:
      return TakeChunkSize();
    case Part::kChunkEnd:
      if (!line_.empty()) return Fail("a chunk is longer than it says");
      head_bytes_ = 0;
      part_ = Part::kChunkSize;
      return;
    case Part::kTrailer:
      if (line_.empty()) state_ = State::kDone;
      return;
    case Part::kLength:
    case Part::kUntilEnd:
    case Part::kChunk:
      return;  // they have no lines
  }
}

void ResponseParser::TakeStatus() {
  const std::string_view line = line_;
  const bool is_http = line.size() >= 12 && line.starts_with("HTTP/1.") && line[8] == ' ' &&
                       (line[7] == '0' || line[7] == '1') && (line.size() == 12 || line[12] == ' ');
  const std::optional<uint64_t> status = is_http ? ParseNumber(line.substr(9, 3)) : std::nullopt;
  if (!status || *status < 100 || *status > 599) return Fail("the answer is not HTTP/1.1");
  head_ = {.status = static_cast<int>(*status), .keeps_connection = line[7] == '1'};
  part_ = Part::kFields;
}

void ResponseParser::TakeField() {
  const size_t colon = line_.find(':');
  const std::string_view name = std::string_view(line_).substr(0, colon);
  if (colon == std::string::npos || name.empty() || !std::ranges::all_of(name, IsTokenByte))
    return Fail("a field of the answer has no name");
  head_.fields.emplace_back(Lower(name), Trim(std::string_view(line_).substr(colon + 1)));
}

void ResponseParser::TakeHeadEnd() {
  if (head_.status < 200) {  // interim
    if (head_.status == 101) return Fail("the server changes the protocol");
    part_ = Part::kStatus;
    return;
  }
  for (const auto& [name, value] : head_.fields) {
    if (name == "connection") {
      const std::string options = "," + Lower(value) + ",";
      if (options.find("close") != std::string::npos) head_.keeps_connection = false;
    }
    if (name == "transfer-encoding") {
      if (head_.is_chunked || Lower(value) != "chunked")
        return Fail("the answer has a transfer coding that was not asked for");
      head_.is_chunked = true;
    }
    if (name == "content-length") {
      const std::optional<uint64_t> length = ParseNumber(value);
      if (!length || (head_.length && head_.length != length))
        return Fail("the answer's length is not clear");
      head_.length = length;
    }
  }
  if (head_.is_chunked && head_.length) return Fail("the answer has a length and chunks");
  head_bytes_ = 0;
  const bool has_body = has_body_ && head_.status != 204 && head_.status != 304;
  state_ = has_body && head_.length != 0 ? State::kBody : State::kDone;
  left_ = head_.length.value_or(0);
  part_ = head_.is_chunked ? Part::kChunkSize : head_.length ? Part::kLength : Part::kUntilEnd;
  if (state_ == State::kBody && part_ == Part::kUntilEnd) head_.keeps_connection = false;
}

void ResponseParser::TakeChunkSize() {
  const std::string_view size = Trim(std::string_view(line_).substr(0, line_.find(';')));
  const std::optional<uint64_t> bytes = ParseHexNumber(size);
  if (!bytes || *bytes > kChunkBytesMax) return Fail("a chunk has no size");
  left_ = *bytes;
  head_bytes_ = 0;
  part_ = *bytes == 0 ? Part::kTrailer : Part::kChunk;
}

void ResponseParser::End() {
  if (state_ == State::kDone || state_ == State::kFailed) return;
  if (state_ == State::kBody && part_ == Part::kUntilEnd) {
    state_ = State::kDone;
  } else {
    Fail(state_ == State::kHead ? "the connection ended before an answer"
                                : "the connection ended within an answer");
  }
}

}  // namespace galley::vfs

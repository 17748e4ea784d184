// ResponseParser: an HTTP/1.1 response from its bytes, in pieces as they come.
//
// Refused is whatever leaves open where the response ends: two lengths, a length beside a transfer
// coding, other codings than chunked, folded fields, lines that do not end in CR LF. A head has at
// most kHeadBytesMax bytes, interim answers (1xx) and trailers included.
//
// Source: RFC 9112. Threads: none. Memory: the head.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace galley::vfs {

struct ResponseHead {
  int status = 0;
  // Names in lower case; values without space at either end. In the order in which they came.
  std::vector<std::pair<std::string, std::string>> fields;
  std::optional<uint64_t> length;  // Content-Length
  bool is_chunked = false;
  bool keeps_connection = true;

  // The value of the first field of this name, which is in lower case; empty: there is none.
  std::string_view Find(std::string_view name) const;
};

class ResponseParser {
 public:
  static constexpr size_t kHeadBytesMax = 16 << 10;

  enum class State { kHead, kBody, kDone, kFailed };

  // `has_body`: false for the answer to HEAD.
  explicit ResponseParser(bool has_body = true) : has_body_(has_body) {}

  // Takes bytes, and appends what belongs to the body to `body`. Returns how many bytes were taken:
  // all, unless the response has ended or failed.
  size_t Feed(std::string_view bytes, std::string& body);
  // The server has closed the connection: ends a body that has no other end.
  void End();

  State state() const { return state_; }
  // REQUIRES: the state is kBody or kDone.
  const ResponseHead& head() const { return head_; }
  // Why it failed.
  const std::string& error() const { return error_; }
  // How much of a body of known length is to come; nullopt: its length is not known.
  std::optional<uint64_t> left() const;

 private:
  enum class Part { kStatus, kFields, kLength, kUntilEnd, kChunkSize, kChunk, kChunkEnd, kTrailer };

  void Fail(std::string error);
  size_t FeedLine(std::string_view bytes);
  void TakeLine();
  void TakeStatus();
  void TakeField();
  void TakeHeadEnd();
  void TakeChunkSize();
  size_t FeedBytes(std::string_view bytes, std::string& body);

  const bool has_body_;
  State state_ = State::kHead;
  Part part_ = Part::kStatus;
  ResponseHead head_;
  std::string line_;
  size_t head_bytes_ = 0;
  uint64_t left_ = 0;  // of the body or the chunk
  std::string error_;
};

}  // namespace galley::vfs

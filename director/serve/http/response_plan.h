// PlanResponse: what of a face's answer is sent, after the request's conditions, its ranges and the
// codings that it accepts.
//
//   answer 200, tag "5e1f", 100 bytes, and the request has
//     If-None-Match: "5e1f"      304, without a body
//     If-Match: "0000"           412
//     Range: bytes=0-4           206, Content-Range: bytes 0-4/100
//     Range: bytes=0-4,90-       206, multipart/byteranges
//     Range: bytes=200-          416
//     Accept-Encoding: zstd      200, ETag: W/"5e1f-zstd", if the answer is_codable and the coded
//                                bytes are smaller by 5 %
//
// Only a 200 to GET or HEAD has conditions, ranges and codings (RFC 9110, 13.2.1 and 14.2). A
// request with Range or If-Match is never coded, because both are about the bytes of the strong
// tag. A coded body has no ranges. A weak tag of another coding than the one that would be sent now
// matches nothing.
//
// Threads: none; pure functions.   Source: RFC 9110, 8.8.3.3, 13, 14 and 15; RFC 8246.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/http/byte_ranges.h"
#include "common/http/content_coding.h"
#include "director/serve/http/http_answer.h"
#include "director/serve/http/http_request.h"

namespace galley::director {

// Bodies outside of these sizes are never coded: small ones gain nothing, and large ones are held
// in memory while they are sent.
inline constexpr uint64_t kCodedBodyBytesMin = 256;
inline constexpr uint64_t kCodedBodyBytesMax = 4 << 20;

// RequestTerms: what a request says about how it wants its answer. The values of its fields.
struct RequestTerms {
  bool reads = false;  // GET or HEAD
  bool is_head = false;
  std::optional<std::string> if_match;
  std::optional<std::string> if_none_match;
  std::optional<std::string> if_range;
  std::optional<std::string> range;
  std::optional<std::string> accept_encoding;
};
RequestTerms TermsOf(const HttpRequest& request);

// A part of the body that is sent: a text, or a range of the answer's body (in its coding).
using BodyPart = std::variant<std::string, http::ByteRange>;

struct ResponsePlan {
  int status = 200;
  std::vector<HttpField> fields;           // all but Date, Connection and those of the framing
  std::optional<uint64_t> content_length;  // nullopt: 204, 304, or an event stream
  std::vector<BodyPart> parts;             // in this order; also for HEAD, which does not send them
  bool is_stream = false;  // the parts are empty, and the body comes from the stream
};

// CodedSize: an answer's body in a coding that WantedCoding named.
struct CodedSize {
  http::ContentCoding coding = http::ContentCoding::kZstd;
  uint64_t size_bytes = 0;
};

// The size of the body; 0 for an event stream.
uint64_t SizeOf(const HttpBody& body);

// The coding in which the body should be sent, if that makes it smaller. kIdentity whenever the
// plan would not send a whole body.
http::ContentCoding WantedCoding(const RequestTerms& terms, const HttpAnswer& answer);

// `coded`: nullopt: the body has no coding. `boundary` separates the parts of a multipart body;
// each response has a new one that nobody can guess. REQUIRES: as http::FrameParts.
ResponsePlan PlanResponse(const RequestTerms& terms, const HttpAnswer& answer,
                          const std::optional<CodedSize>& coded, std::string_view boundary);

}  // namespace galley::director

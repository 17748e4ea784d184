// Refuses requests that a permissive parser of HTTP/1.1 lets through.
//
// Boost.Beast accepts a request without a Host or with two, folded lines, and transfer codings that
// nobody can decode. A proxy in front may read such a request in another way than we do, and one
// request becomes two, which is called request smuggling. Such a request is answered with an error,
// and the connection ends, since nobody can say where the next request begins.
//
// Threads: none; pure functions.
// Source: RFC 9112, 2.2, 2.3, 3.2, 5.1, 5.2, 6.1 and 6.3; RFC 9110, 5.5, 8.6, 9.1, 10.1.1 and 15.5.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/http/field_syntax.h"
#include "common/http/host.h"

namespace galley::http {

inline constexpr uint64_t kBodyBytesMax = 64 * 1024;

// A request without its body, as a parser received it. The views are those of the caller.
struct RequestHead {
  std::string_view method;
  std::string_view target;
  int version = 11;  // ten times the major number and the minor one: 11 is HTTP/1.1
  std::vector<Field> fields;
};

struct RequestRules {
  std::vector<Host> allowed_hosts;
  uint16_t default_port = 80;  // of the scheme: 443 with TLS
};

struct Refusal {
  int status = 400;
  std::string text;         // a sentence in ASCII
  bool must_close = false;  // the connection ends with the answer: what follows is not a request
};

// Checks the bytes of a head, from the request line to the empty line, as they came from the
// connection. Beast makes one line of folded lines before anyone sees the fields, so that this must
// come before its parser.
//
//   400  a line begins with a space or a tab: it is folded, or hides from who skips such lines
//   400  a CR without LF after it, an LF without CR before it, or a NUL
std::optional<Refusal> CheckHeadBytes(std::string_view head);

// Checks a parsed head; nullopt: it may be answered. The first line that holds is the refusal:
//
//   505, ends  a version that is neither 1.0 nor 1.1
//   400, ends  a name of a field that is not a token; a control character in a value, CR and LF too
//   400, ends  several Transfer-Encoding; one in HTTP/1.0, or beside a Content-Length; one whose
//              last coding is not chunked, or that has chunked twice, or an empty element
//   501, ends  a Transfer-Encoding with other codings before chunked
//   400, ends  several Content-Length, or one that is not digits only, such as "5, 5"
//   400, ends  several Host
//   400        no Host, in HTTP/1.0 as well, or one that ParseHost does not take
//   421        a Host that is not allowed
//   501        a method other than GET, HEAD, POST and DELETE, which are compared with case
//   414        a target longer than kTargetBytesMax
//   413        a Content-Length above kBodyBytesMax
//   400        a body with a method other than POST
//   417        an Expect in HTTP/1.1: a proxy may not pass on a 100, so that we never send one
//
// "ends": must_close. The others have must_close whenever a body follows, since nobody reads it.
// A chunked body may be longer than kBodyBytesMax: who reads it counts, and answers 413.
std::optional<Refusal> CheckRequest(const RequestHead& head, const RequestRules& rules);

}  // namespace galley::http

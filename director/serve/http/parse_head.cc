#include "director/serve/http/parse_head.h"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/field.hpp>
#include <boost/beast/http/verb.hpp>
#include <boost/none.hpp>
#include <boost/optional.hpp>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "fmt/format.h"

namespace galley::director {
namespace {

namespace beast_http = boost::beast::http;
using BeastError = boost::beast::error_code;
using BeastView = boost::beast::string_view;

std::string_view ViewOf(BeastView text) { return {text.data(), text.size()}; }

// HeadParser: keeps where the parts of a head lie. Nothing of a body is parsed.
class HeadParser final : public beast_http::basic_parser<true> {
 public:
  http::RequestHead& head() { return head_; }

 private:
  void on_request_impl(beast_http::verb, BeastView method, BeastView target, int version,
                       BeastError& error) override {
    error = {};
    head_.method = ViewOf(method);
    head_.target = ViewOf(target);
    head_.version = version;
  }
  void on_field_impl(beast_http::field, BeastView name, BeastView value,
                     BeastError& error) override {
    error = {};
    head_.fields.push_back({ViewOf(name), ViewOf(value)});
  }
  void on_response_impl(int, BeastView, int, BeastError&) override {}
  void on_header_impl(BeastError& error) override { error = {}; }
  void on_body_init_impl(const boost::optional<std::uint64_t>&, BeastError&) override {}
  std::size_t on_body_impl(BeastView, BeastError&) override { return 0; }
  void on_chunk_header_impl(std::uint64_t, BeastView, BeastError&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, BeastView, BeastError&) override { return 0; }
  void on_finish_impl(BeastError& error) override { error = {}; }

  http::RequestHead head_;
};

// Whether the request line ends with a version of HTTP that this server does not speak. Beast says
// the same of any text in its place.
bool IsOfOtherVersion(std::string_view head) {
  const std::string_view line = head.substr(0, head.find('\r'));
  const std::string_view version = line.substr(line.rfind(' ') + 1);
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return version.size() == 8 && version.starts_with("HTTP/") && is_digit(version[5]) &&
         version[6] == '.' && is_digit(version[7]) && version != "HTTP/1.0" &&
         version != "HTTP/1.1";
}

http::Refusal RefusalOf(const BeastError& error, std::string_view head) {
  if (error == beast_http::error::bad_version && IsOfOtherVersion(head)) {
    return {.status = 505,
            .text = "The version of the request is neither HTTP/1.0 nor HTTP/1.1.",
            .must_close = true};
  }
  return {.status = 400,
          .text = fmt::format("The head of the request is malformed: {}.", error.message()),
          .must_close = true};
}

}  // namespace

std::variant<http::RequestHead, http::Refusal> ParseHead(std::string_view head) {
  HeadParser parser;
  parser.eager(false);
  parser.body_limit(boost::none);  // CheckRequest says 413
  parser.header_limit(static_cast<std::uint32_t>(head.size() + 1));
  BeastError error;
  const std::size_t taken = parser.put(boost::asio::const_buffer(head.data(), head.size()), error);
  if (error) return RefusalOf(error, head);
  if (!parser.is_header_done() || taken != head.size()) {
    return http::Refusal{
        .status = 400, .text = "The head of the request is incomplete.", .must_close = true};
  }
  return std::move(parser.head());
}

}  // namespace galley::director

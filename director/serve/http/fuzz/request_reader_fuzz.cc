// The bytes of a connection: the same requests and refusals come out however the bytes are cut, and
// each request keeps the promises of the headers.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/base/status_macros.h"
#include "common/base/utf8.h"
#include "director/serve/http/access_check.h"
#include "director/serve/http/request_reader.h"
#include "director/serve/http/response_head.h"
#include "director/serve/http/response_plan.h"

namespace galley::director {
namespace {

const http::RequestRules& Rules() {
  static const http::RequestRules rules{.allowed_hosts = {{.name = "localhost"}}};
  return rules;
}

bool IsIn(std::string_view view, std::string_view whole) {
  return view.data() >= whole.data() && view.data() + view.size() <= whole.data() + whole.size();
}

HttpAnswer FileOf(uint64_t size) {
  return {.content_type = "image/ktx2",
          .tag = http::EntityTag{.opaque = "now"},
          .is_codable = true,
          .body = MakeBlob(std::string(size, 'x'))};
}

// The parts that are sent have the length that is said, and lie in the body.
void CheckPlan(const HttpRequest& request, uint64_t size) {
  const ResponsePlan plan = PlanResponse(TermsOf(request), FileOf(size), std::nullopt, "boundary");
  GALLEY_CHECK(plan.status == 200 || plan.status == 206 || plan.status == 304 ||
               plan.status == 412 || plan.status == 416);
  uint64_t bytes = 0;
  for (const BodyPart& part : plan.parts) {
    if (const auto* text = std::get_if<std::string>(&part)) {
      bytes += text->size();
      continue;
    }
    const auto& range = std::get<http::ByteRange>(part);
    GALLEY_CHECK(range.first <= range.last && range.last < size);
    bytes += range.last - range.first + 1;
  }
  GALLEY_CHECK(bytes == plan.content_length.value_or(0));
  const std::string head = HeadText(plan, "now", {});
  GALLEY_CHECK(head.find("\r\n\r\n") == head.size() - 4);
}

std::string CheckReceived(const RequestReader::Received& received) {
  const HttpRequest& request = received.request;
  GALLEY_CHECK(request.head != nullptr && request.head->size() <= kHeadBytesMax);
  GALLEY_CHECK(request.fields.size() <= kHeadFieldsMax);
  GALLEY_CHECK(request.body.size() <= http::kBodyBytesMax);
  GALLEY_CHECK(request.method == HttpMethod::kPost || request.body.empty());
  GALLEY_CHECK(request.ValueOf("host") && !request.ValueOf("transfer-encoding"));
  std::string text = fmt::format("{} {} {}", static_cast<int>(request.method), received.keeps_alive,
                                 received.may_chunk);
  for (const http::Field& field : request.fields) {
    GALLEY_CHECK(http::IsToken(field.name) && IsIn(field.name, *request.head));
    GALLEY_CHECK(field.value.empty() || IsIn(field.value, *request.head));
    text += fmt::format("\n{}:{}", field.name, field.value);
  }
  for (const std::string& segment : request.target.segments) {
    GALLEY_CHECK(IsUtf8(segment) && segment != ".." && segment.find('/') == segment.npos);
    text += "/" + segment;
  }
  for (const uint64_t size : {uint64_t{0}, uint64_t{1}, uint64_t{1'000}}) CheckPlan(request, size);
  CheckAccess(request, {.token_sha256 = std::string(32, 'x')});
  return text + "\n" + request.body;
}

// The outcome of the bytes, cut into pieces of at most `piece_bytes`.
std::vector<std::string> ReadAll(std::string_view bytes, size_t piece_bytes) {
  RequestReader reader(Rules());
  std::vector<std::string> taken;
  while (true) {
    const RequestReader::Next next = reader.TakeRequest();
    if (const auto* received = std::get_if<RequestReader::Received>(&next)) {
      taken.push_back(CheckReceived(*received));
    } else if (const auto* refused = std::get_if<RequestReader::Refused>(&next)) {
      GALLEY_CHECK(refused->refusal.status >= 400 && refused->refusal.text.ends_with('.'));
      taken.push_back(fmt::format("{} {}", refused->refusal.status, refused->refusal.must_close));
      if (refused->refusal.must_close) return taken;
    } else {
      // A reader that needs bytes has room for some: nobody waits for ever.
      GALLEY_CHECK(reader.room() > 0);
      const size_t wanted = std::min({piece_bytes, bytes.size(), reader.room()});
      if (wanted == 0) return taken;
      reader.Append(bytes.substr(0, wanted));
      bytes.remove_prefix(wanted);
    }
  }
}

// The status alone may differ where a head is too long or malformed at more than one place, since
// the pieces decide which is seen first.
bool AreSame(std::vector<std::string> a, std::vector<std::string> b) {
  const auto is_end = [](const std::string& text) { return text.ends_with(" true"); };
  if (!a.empty() && !b.empty() && is_end(a.back()) && is_end(b.back())) {
    a.pop_back();
    b.pop_back();
  }
  return a == b;
}

}  // namespace
}  // namespace galley::director

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace galley::director;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::vector<std::string> whole = ReadAll(bytes, SIZE_MAX);
  for (const size_t piece : {size_t{1}, size_t{7}})
    GALLEY_CHECK(AreSame(ReadAll(bytes, piece), whole));
  return 0;
}

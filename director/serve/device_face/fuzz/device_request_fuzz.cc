// A request's target, fields and body as the face reads them: each is read without a crash, and
// what is read keeps the promises of the headers. The first line of an input is the target, the
// second and third are Prefer and If-None-Match, the rest is the body of a POST.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "common/base/status_macros.h"
#include "common/base/utf8.h"
#include "common/http/entity_tag.h"
#include "common/http/request_target.h"
#include "director/serve/device_face/content_type.h"
#include "director/serve/device_face/device_answers.h"
#include "director/serve/device_face/device_json.h"
#include "director/serve/device_face/device_target.h"
#include "director/serve/device_face/request_wishes.h"

namespace galley::director {
namespace {

std::string_view TakeLine(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(text.size(), line.size() + 1));
  return line;
}

// A path is not empty, and nothing in it leads out of a tree.
void CheckPath(const std::string& path) {
  GALLEY_CHECK(!path.empty() && path.front() != '/' && path.back() != '/');
  GALLEY_CHECK(IsUtf8(path) && ("/" + path + "/").find("/../") == std::string::npos);
  GALLEY_CHECK(path.find('\0') == path.npos && path.find("//") == path.npos);
  GALLEY_CHECK(ContentTypeOf(path).name.find('/') != std::string_view::npos);
}

struct CheckTarget {
  void operator()(const PresentTarget& target) const {
    GALLEY_CHECK(!target.platform.empty() && target.platform != "sessions");
    CheckPath(target.path);
  }
  void operator()(const RootTarget& target) const { CheckPath(target.path); }
  void operator()(const DifferenceTarget&) const {}
  void operator()(const BlobTarget&) const {}
  void operator()(const RecordTarget&) const {}
  void operator()(const OutputTarget& target) const {
    if (!target.suffix.empty()) CheckPath(target.suffix);
  }
  void operator()(const SessionsTarget&) const {}
  void operator()(const SessionTarget& target) const { GALLEY_CHECK(!target.id.empty()); }
  void operator()(const ChangesTarget& target) const { GALLEY_CHECK(!target.id.empty()); }
  void operator()(const SessionFileTarget& target) const {
    GALLEY_CHECK(!target.id.empty() && target.path != "changes");
    CheckPath(target.path);
  }
};

void FuzzTarget(std::string_view text) {
  const auto parsed = http::ParseRequestTarget(text);
  if (!parsed.ok()) return;
  const auto target = ReadDeviceTarget(*parsed);
  if (!target.ok()) {
    const int status = WrongRequestAnswer(target.status()).status;
    GALLEY_CHECK(status == 400 || status == 404);
    return;
  }
  std::visit(CheckTarget(), *target);
  GALLEY_CHECK(!MethodsOf(*target).empty());
}

void FuzzFields(std::string_view prefer, std::string_view if_none_match) {
  const absl::Duration wait = WaitOf(prefer);
  GALLEY_CHECK(wait >= absl::ZeroDuration() && wait <= kAnswerWaitMax);
  for (const char* coding : {"zstd", "gzip", "identity"}) {
    const auto tags = KnownTagsOf(if_none_match, coding);
    GALLEY_CHECK(tags.size() <= kKnownTagsMax);
    for (const std::string& tag : tags)
      GALLEY_CHECK(http::ParseEntityTag("\"" + tag + "\"").has_value());
  }
}

void FuzzBody(std::string_view body) {
  const auto ask = ReadSessionAsk(body);
  if (!ask.ok()) {
    GALLEY_CHECK(absl::IsInvalidArgument(ask.status()));
    GALLEY_CHECK(MessageOf(ask.status()).ends_with('.'));
    return;
  }
  GALLEY_CHECK(!ask->platform.empty() && ask->platform.size() <= kAskedTextBytesMax);
  GALLEY_CHECK(ask->cultures.size() <= kCulturesAskedMax);
}

}  // namespace
}  // namespace galley::director

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace galley::director;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  FuzzTarget(TakeLine(text));
  const std::string_view prefer = TakeLine(text);
  FuzzFields(prefer, TakeLine(text));
  FuzzBody(text);
  return 0;
}

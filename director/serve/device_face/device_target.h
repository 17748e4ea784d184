// DeviceTarget: the thing that the path of a request names.
//
//   /v1/<platform>/<path>                PresentTarget
//   /v1/root/<hex>/<size>/<path>         RootTarget
//   /v1/root/<hex>/<size>?since=<hex>/<size>   DifferenceTarget
//   /v1/blob/<hex>/<size>                BlobTarget
//   /v1/record/<hex>/<size>              RecordTarget; the digest is an action key
//   /v1/record/<hex>/<size>/<suffix>     OutputTarget; ?suffix= names the empty suffix
//   /v1/sessions                         SessionsTarget
//   /v1/sessions/<id>                    SessionTarget
//   /v1/sessions/<id>/changes            ChangesTarget
//   /v1/sessions/<id>/<path>             SessionFileTarget
//
// Threads: none; pure functions.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "absl/status/statusor.h"
#include "common/base/digest.h"
#include "common/http/request_target.h"
#include "director/serve/http/http_request.h"

namespace galley::director {

struct PresentTarget {
  std::string platform;
  std::string path;  // "Game/a.png.ktx2"
  bool operator==(const PresentTarget&) const = default;
};
struct RootTarget {
  Digest root;
  std::string path;
  bool operator==(const RootTarget&) const = default;
};
struct DifferenceTarget {
  Digest root;
  Digest since;
  bool operator==(const DifferenceTarget&) const = default;
};
struct BlobTarget {
  Digest digest;
  bool operator==(const BlobTarget&) const = default;
};
struct RecordTarget {
  Digest action_key;
  bool operator==(const RecordTarget&) const = default;
};
struct OutputTarget {
  Digest action_key;
  std::string suffix;  // ".ktx2", ".d/lod1.glb", ""
  bool operator==(const OutputTarget&) const = default;
};
struct SessionsTarget {
  bool operator==(const SessionsTarget&) const = default;
};
struct SessionTarget {
  std::string id;
  bool operator==(const SessionTarget&) const = default;
};
struct ChangesTarget {
  std::string id;
  bool operator==(const ChangesTarget&) const = default;
};
struct SessionFileTarget {
  std::string id;
  std::string path;
  bool operator==(const SessionFileTarget&) const = default;
};
using DeviceTarget =
    std::variant<PresentTarget, RootTarget, DifferenceTarget, BlobTarget, RecordTarget,
                 OutputTarget, SessionsTarget, SessionTarget, ChangesTarget, SessionFileTarget>;

// NOT_FOUND: no such thing is served. INVALID_ARGUMENT: a malformed digest. The messages are
// sentences. A query other than those above is ignored.
absl::StatusOr<DeviceTarget> ReadDeviceTarget(const http::RequestTarget& target);

// The methods that the target has: "GET, HEAD", "POST", "GET, HEAD, DELETE".
std::string_view MethodsOf(const DeviceTarget& target);
bool HasMethod(const DeviceTarget& target, HttpMethod method);

}  // namespace galley::director

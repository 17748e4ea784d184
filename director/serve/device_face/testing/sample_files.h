// For tests: files and refusals as DeviceCalls answers with them.
#pragma once

#include <string>

#include "common/base/digest.h"
#include "director/serve/device_calls.h"

namespace galley::director {

// The file of the bytes, with the tag "key-<its hex>".
inline DeviceFile SampleDeviceFile(const std::string& bytes) {
  const Digest digest = Digest::Of(bytes);
  return {.digest = digest, .tag = "key-" + digest.hex()};
}
inline DeviceRefusal SampleRefusal(RefusalKind kind) {
  return {.kind = kind, .text = "This is why."};
}

}  // namespace galley::director

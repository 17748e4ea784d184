// A stream of frames in pieces: the frames that come out do not depend on where the pieces end, and
// the reader holds nothing that was not sent.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/status_macros.h"
#include "worker/executor/frame.h"

namespace {

struct Seen {
  std::vector<std::string> frames;
  bool is_refused = false;
  bool operator==(const Seen&) const = default;
};

Seen ReadAll(std::string_view bytes, size_t piece) {
  Seen seen;
  galley::worker::FrameReader reader;
  while (!bytes.empty()) {
    reader.Add(bytes.substr(0, piece));
    bytes.remove_prefix(std::min(piece, bytes.size()));
    while (true) {
      auto frame = reader.Next();
      if (!frame.ok()) {
        seen.is_refused = true;
        return seen;
      }
      if (!frame->has_value()) break;
      seen.frames.push_back(static_cast<char>((*frame)->kind) + (*frame)->bytes);
    }
  }
  return seen;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  GALLEY_CHECK(ReadAll(bytes, bytes.size() + 1) == ReadAll(bytes, size_t{data[0]} + 1));
  return 0;
}

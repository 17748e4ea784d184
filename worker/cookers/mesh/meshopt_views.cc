#include "worker/cookers/mesh/meshopt_views.h"

#include <meshoptimizer.h>

#include <utility>

#include "common/base/status_macros.h"
#include "fmt/format.h"

namespace galley::worker::mesh {
namespace {

constexpr uint64_t kPackedStrideMax = 256;
constexpr uint64_t kPackedBytesMax = uint64_t{1} << 40;

struct Packed {
  std::string_view bytes;
  size_t count = 0;
  size_t stride = 0;
  std::string mode;
  std::string filter;
};

absl::StatusOr<Packed> ReadPacked(const Json& extension, std::string_view buffer,
                                  const std::string& pointer) {
  Packed packed;
  ASSIGN_OR_RETURN(const uint64_t offset,
                   NumberOr(extension, "byteOffset", 0, kPackedBytesMax, pointer));
  ASSIGN_OR_RETURN(const uint64_t length,
                   NumberOr(extension, "byteLength", 0, kPackedBytesMax, pointer));
  ASSIGN_OR_RETURN(packed.count, NumberOr(extension, "count", 0, UINT32_MAX, pointer));
  ASSIGN_OR_RETURN(packed.stride, NumberOr(extension, "byteStride", 0, kPackedStrideMax, pointer));
  ASSIGN_OR_RETURN(packed.mode, TextOr(extension, "mode", "", pointer));
  ASSIGN_OR_RETURN(packed.filter, TextOr(extension, "filter", "NONE", pointer));
  if (offset > buffer.size() || length > buffer.size() - offset)
    return Flaw(pointer, fmt::format("bytes {} to {} of a buffer that has {}", offset,
                                     offset + length, buffer.size()));
  packed.bytes = buffer.substr(offset, length);
  return packed;
}

absl::Status CheckLayout(const Packed& packed, const std::string& pointer) {
  const size_t stride = packed.stride;
  if (packed.mode == "ATTRIBUTES") {
    if (stride == 0 || stride % 4 != 0)
      return Flaw(pointer + "/byteStride", "expected a multiple of 4 up to 256");
  } else if (packed.mode == "TRIANGLES" || packed.mode == "INDICES") {
    if (stride != 2 && stride != 4) return Flaw(pointer + "/byteStride", "expected 2 or 4");
    if (packed.mode == "TRIANGLES" && packed.count % 3 != 0)
      return Flaw(pointer + "/count", "expected a multiple of 3");
    if (packed.filter != "NONE") return Flaw(pointer + "/filter", "indices have no filter");
  } else {
    return Flaw(pointer + "/mode", "expected ATTRIBUTES, TRIANGLES or INDICES");
  }
  const bool is_known =
      packed.filter == "NONE" || (packed.filter == "OCTAHEDRAL" && (stride == 4 || stride == 8)) ||
      (packed.filter == "QUATERNION" && stride == 8) || packed.filter == "EXPONENTIAL";
  if (!is_known) {
    return Flaw(pointer + "/filter",
                fmt::format("no such filter for a stride of {}: {}", stride, packed.filter));
  }
  return absl::OkStatus();
}

int Decode(const Packed& packed, std::string& out) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(packed.bytes.data());
  const size_t size = packed.bytes.size();
  if (packed.mode == "ATTRIBUTES")
    return meshopt_decodeVertexBuffer(out.data(), packed.count, packed.stride, bytes, size);
  if (packed.mode == "TRIANGLES")
    return meshopt_decodeIndexBuffer(out.data(), packed.count, packed.stride, bytes, size);
  return meshopt_decodeIndexSequence(out.data(), packed.count, packed.stride, bytes, size);
}

// The first byte of a stream of each mode: a mark in the high bits, the codec's version in the low
// bits. Newer versions than this extension has belong to KHR_meshopt_compression.
// Source: EXT_meshopt_compression, "Mode 0: attributes", "Mode 1: triangles", "Mode 2: indices".
struct Codec {
  std::string_view mode;
  uint8_t mark;
  uint8_t version_max;
};
constexpr Codec kCodecs[] = {{"ATTRIBUTES", 0xA, 0}, {"TRIANGLES", 0xE, 1}, {"INDICES", 0xD, 1}};

std::string WhyNotDecoded(const Packed& packed) {
  const auto first = static_cast<uint8_t>(packed.bytes.empty() ? 0 : packed.bytes.front());
  for (const Codec& codec : kCodecs) {
    if (packed.mode != codec.mode || first >> 4 != codec.mark) continue;
    const int version = first & 0xF;
    if (version <= codec.version_max) break;
    return fmt::format(
        "the compressed bytes are of version {} of the codec, and EXT_meshopt_compression has "
        "versions up to {}; export for EXT_meshopt_compression",
        version, codec.version_max);
  }
  return "the compressed bytes do not decode";
}

}  // namespace

absl::StatusOr<std::string_view> DecodeMeshoptView(Document& document, const Json& extension,
                                                   std::string_view buffer,
                                                   const std::string& pointer) {
  ASSIGN_OR_RETURN(const Packed packed, ReadPacked(extension, buffer, pointer));
  RETURN_IF_ERROR(CheckLayout(packed, pointer));
  RETURN_IF_ERROR(document.Take(packed.count * packed.stride, pointer));
  std::string decoded(packed.count * packed.stride, '\0');
  if (Decode(packed, decoded) != 0) return Flaw(pointer, WhyNotDecoded(packed));
  if (packed.filter == "OCTAHEDRAL")
    meshopt_decodeFilterOct(decoded.data(), packed.count, packed.stride);
  if (packed.filter == "QUATERNION")
    meshopt_decodeFilterQuat(decoded.data(), packed.count, packed.stride);
  if (packed.filter == "EXPONENTIAL")
    meshopt_decodeFilterExp(decoded.data(), packed.count, packed.stride);
  return document.Keep(MakeBlob(std::move(decoded)));
}

}  // namespace galley::worker::mesh

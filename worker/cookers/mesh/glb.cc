#include "worker/cookers/mesh/glb.h"

#include <cstdint>
#include <limits>

#include "worker/cookers/verdict_error.h"

namespace galley::worker::mesh {
namespace {

constexpr size_t kHeaderBytes = 12;
constexpr size_t kChunkHeaderBytes = 8;
constexpr uint32_t kVersion = 2;
constexpr uint32_t kJsonType = 0x4E4F534A;
constexpr uint32_t kBinaryType = 0x004E4942;

// The little-endian word at `offset`. REQUIRES: four bytes at `offset`.
uint32_t Word(std::string_view bytes, size_t offset) {
  uint32_t word = 0;
  for (size_t i = 4; i-- > 0;) word = word << 8 | static_cast<uint8_t>(bytes[offset + i]);
  return word;
}

void PutWord(std::string& out, size_t word) {
  for (int shift = 0; shift < 32; shift += 8)
    out.push_back(static_cast<char>(word >> shift & 0xFF));
}

void PutChunk(std::string& out, uint32_t type, std::string_view bytes, char padding) {
  PutWord(out, Padded(bytes.size()));
  PutWord(out, type);
  out.append(bytes);
  out.append(Padded(bytes.size()) - bytes.size(), padding);
}

}  // namespace

absl::StatusOr<GlbChunks> ReadGlb(std::string_view bytes) {
  if (bytes.size() < kHeaderBytes)
    return VerdictError("the file has {} bytes; a GLB begins with a header of 12", bytes.size());
  if (Word(bytes, 4) != kVersion)
    return VerdictError("GLB version {}; expected 2 (glTF 2.0)", Word(bytes, 4));
  const size_t length = Word(bytes, 8);
  if (length < kHeaderBytes || length > bytes.size()) {
    return VerdictError("the header says {} bytes and the file has {}: truncated?", length,
                        bytes.size());
  }
  GlbChunks chunks;
  if (length < bytes.size()) {
    chunks.warnings.Add("{} bytes after the end of the GLB are ignored (GLB_LENGTH_MISMATCH)",
                        bytes.size() - length);
  }
  size_t index = 0;
  for (size_t offset = kHeaderBytes; offset < length; ++index) {
    if (length - offset < kChunkHeaderBytes)
      return VerdictError("chunk {} at {} is truncated", index, offset);
    const size_t size = Word(bytes, offset);
    const uint32_t type = Word(bytes, offset + 4);
    offset += kChunkHeaderBytes;
    if (size > length - offset)
      return VerdictError("chunk {} says {} bytes, and {} are left", index, size, length - offset);
    if ((index == 0) != (type == kJsonType))
      return VerdictError("the first chunk, and no other, must be JSON");
    if (type == kJsonType) chunks.json = bytes.substr(offset, size);
    if (type == kBinaryType && index == 1) chunks.binary = bytes.substr(offset, size);
    if (type == kBinaryType && index != 1) {
      chunks.warnings.Add(
          "chunk {} is a second BIN chunk, or not the second chunk; it is dropped "
          "(GLB_DUPLICATE_CHUNK, GLB_UNEXPECTED_BIN_CHUNK)",
          index);
    } else if (type != kJsonType && type != kBinaryType) {
      chunks.warnings.Add("chunk {} of type {:#x} is dropped", index, type);
    }
    offset += size;
  }
  if (index == 0) return VerdictError("a GLB without chunks; expected JSON");
  return chunks;
}

absl::StatusOr<std::string> WriteGlb(std::string_view json, std::string_view binary) {
  const uint64_t length = kHeaderBytes + kChunkHeaderBytes + uint64_t{Padded(json.size())} +
                          (binary.empty() ? 0 : kChunkHeaderBytes + Padded(binary.size()));
  if (length > std::numeric_limits<uint32_t>::max())
    return VerdictError("the mesh would have {} bytes; a GLB holds at most 4 GiB", length);
  std::string out;
  out.reserve(length);
  out.append("glTF");
  PutWord(out, kVersion);
  PutWord(out, length);
  PutChunk(out, kJsonType, json, ' ');
  if (!binary.empty()) PutChunk(out, kBinaryType, binary, '\0');
  return out;
}

}  // namespace galley::worker::mesh

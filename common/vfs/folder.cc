#include "common/vfs/folder.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

namespace galley::vfs {
namespace {

constexpr size_t kSegmentBytesMax = 255;
constexpr size_t kPathBytesMax = 4'095;
constexpr uint32_t kVarint = 0, kBytes = 2;  // wire types

// WireReader: the fields of a protobuf message. Source: protobuf.dev, "Encoding".
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : left_(bytes) {}

  struct Field {
    uint32_t number = 0;
    uint64_t value = 0;      // of a varint
    std::string_view bytes;  // of a string, or a message
    bool is_bytes = false;
  };
  bool is_over() const { return left_.empty(); }
  // nullopt: the bytes are no message, or have a field of another wire type.
  std::optional<Field> Next() {
    const std::optional<uint64_t> tag = Varint();
    if (!tag || *tag >> 3 == 0 || *tag >> 3 > 100) return std::nullopt;
    Field field{.number = static_cast<uint32_t>(*tag >> 3), .is_bytes = (*tag & 7) == kBytes};
    const std::optional<uint64_t> value = Varint();
    if (!value || ((*tag & 7) != kVarint && !field.is_bytes)) return std::nullopt;
    field.value = *value;
    if (!field.is_bytes) return field;
    if (*value > left_.size()) return std::nullopt;
    field.bytes = left_.substr(0, static_cast<size_t>(*value));
    left_.remove_prefix(static_cast<size_t>(*value));
    return field;
  }

 private:
  std::optional<uint64_t> Varint() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && !left_.empty(); shift += 7) {
      const auto byte = static_cast<uint8_t>(left_.front());
      left_.remove_prefix(1);
      value |= uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
    return std::nullopt;
  }

  std::string_view left_;
};

std::optional<BlobId> ReadDigest(std::string_view message) {
  BlobId blob;
  bool has_hash = false;
  for (WireReader reader(message); !reader.is_over();) {
    const auto field = reader.Next();
    if (!field) return std::nullopt;
    if (field->number == 1 && field->is_bytes) {
      const std::optional<Hash> hash = ParseHex(field->bytes);
      if (!hash) return std::nullopt;
      blob.hash = *hash;
      has_hash = true;
    } else if (field->number == 2 && !field->is_bytes && field->value <= uint64_t{INT64_MAX}) {
      blob.size = field->value;
    } else {
      return std::nullopt;
    }
  }
  return has_hash ? std::optional(blob) : std::nullopt;
}

// Plain segments, which any number of ".." may precede.
bool IsLinkTarget(std::string_view target) {
  while (target.starts_with("../")) target.remove_prefix(3);
  return target == ".." || IsPlainPath(target);
}

std::optional<FolderEntry> ReadEntry(FolderEntry::Kind kind, std::string_view message) {
  FolderEntry entry{.kind = kind};
  bool has_blob = false;
  for (WireReader reader(message); !reader.is_over();) {
    const auto field = reader.Next();
    if (!field) return std::nullopt;
    if (field->number == 1 && field->is_bytes) {
      entry.name = field->bytes;
    } else if (field->number == 2 && field->is_bytes && kind == FolderEntry::Kind::kLink) {
      entry.target = field->bytes;
    } else if (field->number == 2 && field->is_bytes) {
      const std::optional<BlobId> blob = ReadDigest(field->bytes);
      if (!blob) return std::nullopt;
      entry.blob = *blob;
      has_blob = true;
    } else if (field->number == 4 && !field->is_bytes && kind == FolderEntry::Kind::kFile) {
      entry.is_executable = field->value != 0;
    } else {
      return std::nullopt;
    }
  }
  const bool leads_somewhere =
      kind == FolderEntry::Kind::kLink ? IsLinkTarget(entry.target) : has_blob;
  return leads_somewhere && IsPlainSegment(entry.name) ? std::optional(entry) : std::nullopt;
}

// The bytes of a character's encoding; 0: none begins here. Source: RFC 3629, 4.
size_t CharacterBytes(std::string_view text) {
  const auto at = [&](size_t i) {
    return i < text.size() ? static_cast<uint8_t>(text[i]) : uint8_t{0};
  };
  const auto is_tail = [&](size_t i) { return (at(i) & 0xc0) == 0x80; };
  const uint8_t first = at(0), second = at(1);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return is_tail(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    const bool is_overlong = first == 0xe0 && second < 0xa0;
    const bool is_surrogate = first == 0xed && second > 0x9f;
    return is_tail(1) && is_tail(2) && !is_overlong && !is_surrogate ? 3 : 0;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    const bool is_outside = (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f);
    return is_tail(1) && is_tail(2) && is_tail(3) && !is_outside ? 4 : 0;
  }
  return 0;
}

bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    const size_t bytes = CharacterBytes(text);
    if (bytes == 0) return false;
    text.remove_prefix(bytes);
  }
  return true;
}

}  // namespace

bool IsPlainSegment(std::string_view name) {
  if (name.empty() || name == "." || name == ".." || name.size() > kSegmentBytesMax) return false;
  const auto is_refused = [](char c) {
    return c == '/' || c == '\\' || static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  };
  return std::ranges::none_of(name, is_refused) && IsUtf8(name);
}

bool IsPlainPath(std::string_view path) {
  if (path.size() > kPathBytesMax) return false;
  while (true) {
    const size_t slash = path.find('/');
    if (!IsPlainSegment(path.substr(0, slash))) return false;
    if (slash == std::string_view::npos) return true;
    path.remove_prefix(slash + 1);
  }
}

bool ForEachEntry(std::string_view folder, const std::function<bool(const FolderEntry&)>& visit) {
  uint32_t list = 1;
  std::string_view last;
  for (WireReader reader(folder); !reader.is_over();) {
    const auto field = reader.Next();
    if (!field || !field->is_bytes || field->number < list || field->number > 3) return false;
    if (field->number != list) last = {};
    list = field->number;
    const auto entry = ReadEntry(static_cast<FolderEntry::Kind>(list - 1), field->bytes);
    if (!entry || (!last.empty() && entry->name <= last)) return false;
    last = entry->name;
    if (!visit(*entry)) return true;
  }
  return true;
}

// Looks at names alone: a name comes first in its entry.
Found FindEntry(std::string_view folder, std::string_view name) {
  for (WireReader reader(folder); !reader.is_over();) {
    const auto field = reader.Next();
    if (!field || !field->is_bytes || field->number < 1 || field->number > 3) return {false, {}};
    const auto named = WireReader(field->bytes).Next();
    if (!named || named->number != 1 || !named->is_bytes) return {false, {}};
    if (named->bytes != name) continue;
    const auto entry = ReadEntry(static_cast<FolderEntry::Kind>(field->number - 1), field->bytes);
    return {entry.has_value(), entry};
  }
  return {};
}

}  // namespace galley::vfs

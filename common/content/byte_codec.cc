#include "common/content/byte_codec.h"

#include <algorithm>

#include "common/base/digest.h"
#include "common/base/status_macros.h"

namespace galley::content {
namespace {

constexpr size_t kCodedPathBytesMax = 64 << 10;

absl::Status Cut() { return absl::InvalidArgumentError("the data ends in the middle of a value"); }

}  // namespace

void ByteWriter::Varint(uint64_t value) {
  while (value >= 0x80) {
    bytes_.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  bytes_.push_back(static_cast<char>(value));
}

void ByteWriter::Signed(int64_t value) {
  Varint((static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63));
}

void ByteWriter::String(std::string_view text) {
  Varint(text.size());
  Raw(text);
}

void ByteWriter::Path(std::string_view path) {
  const size_t limit = std::min(path.size(), path_.size());
  size_t shared = 0;
  while (shared < limit && path[shared] == path_[shared]) ++shared;
  Varint(shared);
  String(path.substr(shared));
  path_ = path;
}

absl::StatusOr<uint64_t> ByteReader::Varint() {
  uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (rest_.empty()) return Cut();
    const uint64_t byte = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    if (shift == 63 && byte > 1) break;
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  return absl::InvalidArgumentError("a number has more than 64 bits");
}

absl::StatusOr<size_t> ByteReader::Count(size_t bytes_each) {
  ASSIGN_OR_RETURN(const uint64_t count, Varint());
  if (count > rest_.size() / bytes_each) return Cut();
  return static_cast<size_t>(count);
}

absl::StatusOr<int64_t> ByteReader::Signed() {
  ASSIGN_OR_RETURN(const uint64_t value, Varint());
  return static_cast<int64_t>((value >> 1) ^ (~(value & 1) + 1));
}

absl::StatusOr<std::string_view> ByteReader::String() {
  ASSIGN_OR_RETURN(const size_t size, Count(1));
  return Raw(size);
}

absl::StatusOr<std::string_view> ByteReader::Raw(size_t size) {
  if (size > rest_.size()) return Cut();
  const std::string_view bytes = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return bytes;
}

absl::StatusOr<std::string> ByteReader::Path() {
  ASSIGN_OR_RETURN(const uint64_t shared, Varint());
  ASSIGN_OR_RETURN(const std::string_view rest, String());
  if (shared > path_.size()) return absl::InvalidArgumentError("a path shares more than there is");
  if (shared + rest.size() > kCodedPathBytesMax)
    return absl::InvalidArgumentError("a path is too long");
  path_.resize(shared);
  path_.append(rest);
  return path_;
}

std::string Seal(std::string_view magic, std::string_view payload) {
  GALLEY_CHECK(magic.size() == kMagicSize);
  std::string file(magic);
  file.append(payload);
  const Digest digest = Digest::Of(file);
  file.append(digest.hash());
  return file;
}

absl::StatusOr<std::string_view> Unseal(std::string_view magic, std::string_view file) {
  if (!file.starts_with(magic)) {
    return absl::InvalidArgumentError("not such a file, or written by another version");
  }
  if (file.size() < kMagicSize + Digest::kHashSize) return Cut();
  const std::string_view sealed = file.substr(0, file.size() - Digest::kHashSize);
  if (Digest::Of(sealed).hash() != file.substr(sealed.size())) {
    return absl::InvalidArgumentError("the checksum is wrong: the file is cut or damaged");
  }
  return sealed.substr(kMagicSize);
}

}  // namespace galley::content

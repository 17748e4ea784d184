#include "common/content/digest_cache.h"

#include <algorithm>
#include <vector>

#include "common/base/errors.h"
#include "common/base/own_file.h"
#include "common/base/racy.h"
#include "common/base/status_macros.h"
#include "common/content/byte_codec.h"

namespace galley::content {
namespace {

constexpr std::string_view kCacheMagic = "GLYDIGC1";
constexpr uint64_t kFileBytesMax = uint64_t{4} << 30;

}  // namespace

absl::StatusOr<DigestCache> DigestCache::Load(const std::string& file) {
  const absl::StatusOr<std::string> bytes = ReadOwnFile(file, kFileBytesMax);
  if (absl::IsNotFound(bytes.status())) return DigestCache();
  if (!bytes.ok()) return InvalidArgumentError("{}: {}", file, MessageOf(bytes.status()));
  const absl::StatusOr<std::string_view> payload = Unseal(kCacheMagic, *bytes);
  if (!payload.ok()) return Annotate(payload.status(), file);
  absl::StatusOr<DigestCache> cache = Decode(*payload);
  if (!cache.ok()) return Annotate(cache.status(), file);
  return cache;
}

absl::StatusOr<DigestCache> DigestCache::Decode(std::string_view payload) {
  ByteReader reader(payload);
  DigestCache cache;
  ASSIGN_OR_RETURN(const size_t count, reader.Count(6 + Digest::kHashSize));
  cache.versions_.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    ASSIGN_OR_RETURN(std::string path, reader.Path());
    Version version;
    ASSIGN_OR_RETURN(version.size_bytes, reader.Varint());
    ASSIGN_OR_RETURN(version.mtime_ns, reader.Signed());
    ASSIGN_OR_RETURN(version.ctime_ns, reader.Signed());
    ASSIGN_OR_RETURN(version.inode, reader.Varint());
    ASSIGN_OR_RETURN(const std::string_view hash, reader.Raw(Digest::kHashSize));
    ASSIGN_OR_RETURN(version.digest, Digest::FromHash(hash, version.size_bytes));
    cache.versions_.insert_or_assign(std::move(path), version);
  }
  if (!reader.AtEnd()) return absl::InvalidArgumentError("bytes after the last entry");
  return cache;
}

std::optional<Digest> DigestCache::Find(std::string_view host_path, const FileStat& stat) const {
  const auto found = versions_.find(host_path);
  if (found == versions_.end()) return std::nullopt;
  const Version& version = found->second;
  const bool is_same = version.size_bytes == stat.size_bytes && version.mtime_ns == stat.mtime_ns &&
                       version.ctime_ns == stat.ctime_ns && version.inode == stat.inode;
  return is_same ? std::optional(version.digest) : std::nullopt;
}

bool DigestCache::Add(std::string_view host_path, const FileStat& stat, const Digest& digest,
                      int64_t hashed_ns) {
  if (IsRacy(stat, hashed_ns) || digest.size_bytes() != stat.size_bytes) return false;
  versions_.insert_or_assign(std::string(host_path), Version{stat.size_bytes, stat.mtime_ns,
                                                             stat.ctime_ns, stat.inode, digest});
  return true;
}

absl::Status DigestCache::Save(const std::string& file) const {
  std::vector<const std::pair<const std::string, Version>*> sorted;
  for (const auto& entry : versions_) sorted.push_back(&entry);
  std::ranges::sort(sorted, [](auto* a, auto* b) { return a->first < b->first; });
  ByteWriter writer;
  writer.Varint(sorted.size());
  for (const auto* entry : sorted) {
    const Version& version = entry->second;
    writer.Path(entry->first);
    writer.Varint(version.size_bytes);
    writer.Signed(version.mtime_ns);
    writer.Signed(version.ctime_ns);
    writer.Varint(version.inode);
    writer.Raw(version.digest.hash());
  }
  return WriteFileAtomic(file, Seal(kCacheMagic, writer.bytes()));
}

}  // namespace galley::content

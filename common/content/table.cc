#include "common/content/table.h"

#include <algorithm>
#include <cstring>
#include <utility>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "common/base/status_macros.h"
#include "common/content/name.h"
#include "fmt/format.h"

namespace galley::content {
namespace {

constexpr std::string_view kMagic = "GLYSNAP3";
// Behind the magic: the checksum of all that follows it, then where the head begins behind that.
constexpr size_t kChecksumSize = 16;
constexpr size_t kFixedSize = kMagicSize + kChecksumSize + sizeof(uint64_t);
constexpr uint64_t kHasError = 1;
constexpr uint64_t kHasClash = 2;
constexpr uint64_t kHasDigest = 4;
constexpr size_t kFileBytesMin = 12;

// The bytes are in the machine's order: a table is read where it was written.
std::string ChecksumOf(std::string_view bytes) {
  const XXH128_hash_t sum = XXH3_128bits(bytes.data(), bytes.size());
  std::string text(kChecksumSize, '\0');
  std::memcpy(text.data(), &sum.low64, sizeof(sum.low64));
  std::memcpy(text.data() + sizeof(sum.low64), &sum.high64, sizeof(sum.high64));
  return text;
}

std::string UsualHostPath(const Mount& mount, std::string_view path) {
  return mount.directory + std::string(path.substr(mount.path.size()));
}

void WriteStrings(const std::vector<std::string>& strings, ByteWriter& writer) {
  writer.Varint(strings.size());
  for (const std::string& text : strings) writer.String(text);
}

absl::StatusOr<std::vector<std::string>> ReadStrings(ByteReader& reader) {
  ASSIGN_OR_RETURN(const size_t count, reader.Count(1));
  std::vector<std::string> strings;
  for (size_t i = 0; i < count; ++i) {
    ASSIGN_OR_RETURN(const std::string_view text, reader.String());
    strings.emplace_back(text);
  }
  return strings;
}

void WriteMount(const Mount& mount, ByteWriter& writer) {
  writer.String(mount.path);
  writer.String(mount.directory);
  writer.Signed(mount.priority);
  writer.Varint(mount.is_engine ? 1 : 0);
  writer.String(mount.stage_as);
}

absl::StatusOr<Mount> ReadMount(ByteReader& reader) {
  Mount mount;
  ASSIGN_OR_RETURN(mount.path, reader.String());
  ASSIGN_OR_RETURN(mount.directory, reader.String());
  ASSIGN_OR_RETURN(const int64_t priority, reader.Signed());
  if (!std::in_range<int>(priority))
    return absl::InvalidArgumentError("a priority is out of range");
  mount.priority = static_cast<int>(priority);
  ASSIGN_OR_RETURN(const uint64_t is_engine, reader.Varint());
  mount.is_engine = is_engine != 0;
  ASSIGN_OR_RETURN(mount.stage_as, reader.String());
  RETURN_IF_ERROR(ValidateVirtualPath(mount.path));
  return mount;
}

void WriteRow(const std::vector<Mount>& mounts, const FileEntry& entry, const Knowledge& knowledge,
              ByteWriter& writer) {
  writer.Path(entry.path);
  writer.Varint(entry.mount);
  const bool is_usual = entry.host_path == UsualHostPath(mounts[entry.mount], entry.path);
  writer.String(is_usual ? std::string_view() : std::string_view(entry.host_path));
  writer.Varint(entry.stat.size_bytes);
  writer.Signed(entry.stat.mtime_ns);
  writer.Signed(entry.stat.ctime_ns);
  writer.Varint(entry.stat.inode);
  writer.Varint(entry.stat.device);
  writer.Varint(entry.stat.mode);
  writer.Signed(knowledge.seen_ns);
  writer.Varint((entry.error.empty() ? 0 : kHasError) | (knowledge.has_clash ? kHasClash : 0) |
                (knowledge.known ? kHasDigest : 0));
  if (!entry.error.empty()) writer.String(entry.error);
  if (!knowledge.known) return;
  writer.Raw(knowledge.known->digest.hash());
  writer.Varint(knowledge.known->digest.size_bytes());
  writer.Signed(knowledge.known->hashed_ns);
}

absl::Status ReadStat(ByteReader& reader, FileStat& stat) {
  ASSIGN_OR_RETURN(stat.size_bytes, reader.Varint());
  ASSIGN_OR_RETURN(stat.mtime_ns, reader.Signed());
  ASSIGN_OR_RETURN(stat.ctime_ns, reader.Signed());
  ASSIGN_OR_RETURN(stat.inode, reader.Varint());
  ASSIGN_OR_RETURN(stat.device, reader.Varint());
  ASSIGN_OR_RETURN(const uint64_t mode, reader.Varint());
  if (!std::in_range<uint32_t>(mode)) return absl::InvalidArgumentError("a mode is out of range");
  stat.mode = static_cast<uint32_t>(mode);
  return absl::OkStatus();
}

absl::StatusOr<Row> ReadRow(const std::vector<Mount>& mounts, ByteReader& reader) {
  Row row;
  FileEntry& entry = row.entry;
  Knowledge& knowledge = row.knowledge;
  ASSIGN_OR_RETURN(entry.path, reader.Path());
  ASSIGN_OR_RETURN(const uint64_t mount, reader.Varint());
  if (mount >= mounts.size() || !IsUnder(entry.path, mounts[mount].path)) {
    return absl::InvalidArgumentError("a file lies in no mount");
  }
  entry.mount = static_cast<uint32_t>(mount);
  ASSIGN_OR_RETURN(entry.host_path, reader.String());
  if (entry.host_path.empty()) entry.host_path = UsualHostPath(mounts[mount], entry.path);
  RETURN_IF_ERROR(ReadStat(reader, entry.stat));
  ASSIGN_OR_RETURN(knowledge.seen_ns, reader.Signed());
  ASSIGN_OR_RETURN(const uint64_t flags, reader.Varint());
  if (flags & kHasError) {
    ASSIGN_OR_RETURN(entry.error, reader.String());
  } else {
    RETURN_IF_ERROR(ValidateVirtualPath(entry.path));
  }
  knowledge.has_clash = (flags & kHasClash) != 0;
  if (!(flags & kHasDigest)) return row;
  ASSIGN_OR_RETURN(const std::string_view hash, reader.Raw(Digest::kHashSize));
  ASSIGN_OR_RETURN(const uint64_t size_bytes, reader.Varint());
  HashedDigest known;
  ASSIGN_OR_RETURN(known.digest, Digest::FromHash(hash, size_bytes));
  ASSIGN_OR_RETURN(known.hashed_ns, reader.Signed());
  knowledge.known = known;
  return row;
}

}  // namespace

void TableWriter::Add(const FileEntry& entry, const Knowledge& knowledge) {
  if (rows_++ % TableFile::kRowsOfChunk == 0) {
    bytes_ += chunk_.bytes();
    chunk_ = ByteWriter();
    chunks_.push_back({entry.path, bytes_.size()});
  }
  WriteRow(head_.mounts, entry, knowledge, chunk_);
}

std::string TableWriter::Finish() {
  bytes_ += chunk_.bytes();
  ByteWriter head;
  head.String(head_.identity);
  head.String(head_.base);
  head.String(head_.base_identity);
  head.Varint(head_.mounts.size());
  for (const Mount& mount : head_.mounts) WriteMount(mount, head);
  WriteStrings(head_.ignore, head);
  WriteStrings(head_.excluded_directories, head);
  WriteStrings(head_.sandboxes, head);
  head.Varint(head_.hidden.size());
  for (const SeenFile& file : head_.hidden)
    WriteRow(head_.mounts, file.entry, Knowledge{.seen_ns = file.seen_ns}, head);
  head.Varint(rows_);
  for (size_t i = 0; i < chunks_.size(); ++i) {
    const size_t end = i + 1 < chunks_.size() ? chunks_[i + 1].begin : bytes_.size();
    head.String(chunks_[i].first);
    head.Varint(end - chunks_[i].begin);
  }
  const uint64_t head_at = bytes_.size();
  std::string file(kMagic);
  file.append(kChecksumSize, '\0');
  file.append(reinterpret_cast<const char*>(&head_at), sizeof(head_at));
  file += bytes_;
  file += head.bytes();
  const std::string checksum =
      ChecksumOf(std::string_view(file).substr(kMagicSize + kChecksumSize));
  file.replace(kMagicSize, kChecksumSize, checksum);
  return file;
}

absl::StatusOr<TableFile> TableFile::Open(const std::string& file) {
  ASSIGN_OR_RETURN(MappedFile mapped, MappedFile::Open(file));
  absl::StatusOr<TableFile> table = FromBytes(mapped.bytes());
  if (!table.ok()) return Annotate(table.status(), file);
  table->mapped_ = std::move(mapped);
  return table;
}

absl::StatusOr<TableFile> TableFile::FromBytes(std::string_view bytes, bool is_trusted) {
  const std::string_view kind = kMagic.substr(0, kMagic.size() - 1);
  if (bytes.size() >= kMagicSize && bytes.starts_with(kind) && !bytes.starts_with(kMagic))
    return absl::FailedPreconditionError("another version wrote it");
  if (!bytes.starts_with(kMagic)) return absl::InvalidArgumentError("it is no such file");
  if (bytes.size() < kFixedSize) return absl::InvalidArgumentError("it is cut off");
  const std::string_view checked = bytes.substr(kMagicSize + kChecksumSize);
  if (!is_trusted && ChecksumOf(checked) != bytes.substr(kMagicSize, kChecksumSize))
    return absl::InvalidArgumentError("the checksum is wrong: the file is cut or damaged");
  TableFile table;
  RETURN_IF_ERROR(table.ReadHead(checked));
  return table;
}

absl::Status TableFile::ReadHead(std::string_view payload) {
  uint64_t head_at = 0;
  std::memcpy(&head_at, payload.data(), sizeof(head_at));
  std::string_view chunks = payload.substr(sizeof(head_at));
  if (head_at > chunks.size()) return absl::InvalidArgumentError("its head is not in it");
  ByteReader reader(chunks.substr(head_at));
  chunks = chunks.substr(0, head_at);
  ASSIGN_OR_RETURN(head_.identity, reader.String());
  ASSIGN_OR_RETURN(head_.base, reader.String());
  ASSIGN_OR_RETURN(head_.base_identity, reader.String());
  if (head_.base.find('/') != std::string::npos)
    return absl::InvalidArgumentError("its base is in another folder");
  ASSIGN_OR_RETURN(const size_t mounts, reader.Count(5));
  for (size_t i = 0; i < mounts; ++i) {
    ASSIGN_OR_RETURN(Mount mount, ReadMount(reader));
    head_.mounts.push_back(std::move(mount));
  }
  ASSIGN_OR_RETURN(head_.ignore, ReadStrings(reader));
  ASSIGN_OR_RETURN(head_.excluded_directories, ReadStrings(reader));
  ASSIGN_OR_RETURN(head_.sandboxes, ReadStrings(reader));
  ASSIGN_OR_RETURN(const size_t hidden, reader.Count(kFileBytesMin));
  for (size_t i = 0; i < hidden; ++i) {
    ASSIGN_OR_RETURN(Row row, ReadRow(head_.mounts, reader));
    head_.hidden.push_back(
        {.entry = std::move(row.entry), .seen_ns = row.knowledge.seen_ns, .link = std::nullopt});
  }
  ASSIGN_OR_RETURN(rows_, reader.Varint());
  if (rows_ > chunks.size() / kFileBytesMin)
    return absl::InvalidArgumentError("it has more files than bytes");
  for (size_t i = 0; i < rows_; i += kRowsOfChunk) {
    ASSIGN_OR_RETURN(const std::string_view first, reader.String());
    ASSIGN_OR_RETURN(const uint64_t size, reader.Varint());
    if (size > chunks.size()) return absl::InvalidArgumentError("a chunk is not in it");
    if (!chunks_.empty() && first <= chunks_.back().first)
      return absl::InvalidArgumentError("the files are not sorted");
    chunks_.push_back({first, chunks.substr(0, size)});
    chunks.remove_prefix(size);
  }
  if (!chunks.empty() || !reader.AtEnd())
    return absl::InvalidArgumentError("bytes that belong to nothing");
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Row>> TableFile::Read(size_t chunk) const {
  const Chunk& of = chunks_[chunk];
  ByteReader reader(of.bytes);
  std::vector<Row> rows;
  const size_t count = std::min(kRowsOfChunk, rows_ - chunk * kRowsOfChunk);
  rows.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    ASSIGN_OR_RETURN(Row row, ReadRow(head_.mounts, reader));
    if (i == 0 ? row.entry.path != of.first : row.entry.path <= rows.back().entry.path)
      return absl::InvalidArgumentError("the files are not sorted");
    rows.push_back(std::move(row));
  }
  if (!reader.AtEnd()) return absl::InvalidArgumentError("bytes after the last file of a chunk");
  if (chunk + 1 < chunks_.size() && !rows.empty() &&
      rows.back().entry.path >= chunks_[chunk + 1].first)
    return absl::InvalidArgumentError("the files are not sorted");
  return rows;
}

}  // namespace galley::content

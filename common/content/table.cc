#include "common/content/table.h"

#include <utility>

#include "common/base/status_macros.h"
#include "common/content/byte_codec.h"
#include "common/content/name.h"
#include "fmt/format.h"

namespace galley::content {
namespace {

constexpr uint64_t kHasError = 1;
constexpr uint64_t kHasClash = 2;
constexpr uint64_t kHasDigest = 4;
constexpr size_t kFileBytesMin = 12;

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

void WriteFile(const FileTable& table, const FileEntry& entry, const Knowledge& knowledge,
               ByteWriter& writer) {
  writer.Path(entry.path);
  writer.Varint(entry.mount);
  const bool is_usual = entry.host_path == UsualHostPath(table.mounts[entry.mount], entry.path);
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

absl::Status ReadFile(const std::vector<Mount>& mounts, ByteReader& reader, FileEntry& entry,
                      Knowledge& knowledge) {
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
  if (!(flags & kHasDigest)) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::string_view hash, reader.Raw(Digest::kHashSize));
  ASSIGN_OR_RETURN(const uint64_t size_bytes, reader.Varint());
  TakenDigest known;
  ASSIGN_OR_RETURN(known.digest, Digest::FromHash(hash, size_bytes));
  ASSIGN_OR_RETURN(known.hashed_ns, reader.Signed());
  knowledge.known = known;
  return absl::OkStatus();
}

}  // namespace

std::string EncodeTable(const FileTable& table, std::string_view identity) {
  ByteWriter writer;
  writer.String(identity);
  writer.Varint(table.mounts.size());
  for (const Mount& mount : table.mounts) WriteMount(mount, writer);
  WriteStrings(table.ignore, writer);
  WriteStrings(table.excluded_directories, writer);
  writer.Varint(table.files.size());
  for (size_t i = 0; i < table.files.size(); ++i) {
    WriteFile(table, table.files[i], table.knowledge[i], writer);
  }
  writer.Varint(table.hidden.size());
  for (const SeenFile& file : table.hidden) {
    WriteFile(table, file.entry, Knowledge{.seen_ns = file.seen_ns}, writer);
  }
  return writer.bytes();
}

absl::StatusOr<FileTable> DecodeTable(std::string_view payload) {
  ByteReader reader(payload);
  FileTable table;
  ASSIGN_OR_RETURN(table.identity, reader.String());
  ASSIGN_OR_RETURN(const size_t mounts, reader.Count(5));
  for (size_t i = 0; i < mounts; ++i) {
    ASSIGN_OR_RETURN(Mount mount, ReadMount(reader));
    table.mounts.push_back(std::move(mount));
  }
  ASSIGN_OR_RETURN(table.ignore, ReadStrings(reader));
  ASSIGN_OR_RETURN(table.excluded_directories, ReadStrings(reader));
  ASSIGN_OR_RETURN(const size_t files, reader.Count(kFileBytesMin));
  for (size_t i = 0; i < files; ++i) {
    FileEntry entry;
    Knowledge knowledge;
    RETURN_IF_ERROR(ReadFile(table.mounts, reader, entry, knowledge));
    if (i > 0 && entry.path <= table.files.back().path) {
      return absl::InvalidArgumentError("the files are not sorted");
    }
    table.files.push_back(std::move(entry));
    table.knowledge.push_back(knowledge);
  }
  ASSIGN_OR_RETURN(const size_t hidden, reader.Count(kFileBytesMin));
  for (size_t i = 0; i < hidden; ++i) {
    SeenFile file;
    Knowledge knowledge;
    RETURN_IF_ERROR(ReadFile(table.mounts, reader, file.entry, knowledge));
    file.seen_ns = knowledge.seen_ns;
    table.hidden.push_back(std::move(file));
  }
  if (!reader.AtEnd()) return absl::InvalidArgumentError("bytes after the last file");
  return table;
}

}  // namespace galley::content

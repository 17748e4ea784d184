#include "common/content/stamp_table.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>
#include <set>
#include <utility>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "common/base/errors.h"
#include "common/base/status_macros.h"
#include "common/content/stamp_check.h"
#include "common/content/stamp_records.h"

namespace galley::content {
namespace {

constexpr std::string_view kStampMagic = "GLYSTMP2";
constexpr size_t kNamesMax = UINT32_MAX;

template <typename T>
void AppendRecords(std::string& bytes, const std::vector<T>& records) {
  static_assert(std::is_trivially_copyable_v<T>);
  bytes.append(reinterpret_cast<const char*>(records.data()), records.size() * sizeof(T));
}

}  // namespace

NamesHash HashOfNames(std::vector<std::string_view> names) {
  std::ranges::sort(names);
  std::string text;
  for (const std::string_view name : names) text.append(name).push_back('\0');
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return {hash.low64, hash.high64};
}

uint32_t StampTableBuilder::Add(const StampedFolder& folder) {
  folders_.push_back(folder);
  return static_cast<uint32_t>(folders_.size() - 1);
}

void StampTableBuilder::Add(uint32_t folder, const StampedFile& file) {
  Noted noted{.folder = folder, .name = names_.size(), .stat = file.stat, .is_racy = file.is_racy};
  names_.append(file.name).push_back('\0');
  // A digest that is learned later has a place then.
  const bool may_be_read = !file.link_target && S_ISREG(file.stat.mode);
  if (file.digest || may_be_read) {
    digests_.push_back(file.digest.value_or(Digest()));
    noted.digest = static_cast<uint32_t>(digests_.size());
    noted.is_unread = !file.digest;
  }
  if (file.link_target) {
    targets_.push_back(*file.link_target);
    noted.target = static_cast<uint32_t>(targets_.size());
  }
  files_.push_back(noted);
}

absl::StatusOr<std::string> StampTableBuilder::Finish() {
  std::vector<FolderRecord> folders;
  folders.reserve(folders_.size());
  for (const StampedFolder& folder : folders_) {
    const bool is_left_out = !folder.unless.empty();
    folders.push_back({.stat = RecordOf(folder.stat, (folder.is_racy ? kIsRacy : 0) |
                                                         (folder.is_link ? kIsLink : 0) |
                                                         (is_left_out ? kIsLeftOut : 0)),
                       .names = folder.names,
                       .path = static_cast<uint32_t>(names_.size()),
                       .first_file = 0,
                       .file_count = 0,
                       .zero = 0});
    names_.append(is_left_out ? JoinPath(folder.host_path, folder.unless) : folder.host_path);
    names_.push_back('\0');
  }
  if (names_.size() > kNamesMax || files_.size() > UINT32_MAX || folders_.size() > UINT32_MAX)
    return absl::ResourceExhaustedError("more files than a table of stamps can hold");
  for (const Noted& file : files_) ++folders[file.folder].file_count;
  std::vector<uint32_t> next;
  uint32_t first = 0;
  for (FolderRecord& folder : folders) {
    folder.first_file = first;
    next.push_back(first);
    first += folder.file_count;
  }
  std::vector<FileRecord> files(files_.size());
  for (const Noted& file : files_) {
    files[next[file.folder]++] = {.stat = RecordOf(file.stat, (file.is_racy ? kIsRacy : 0) |
                                                                  (file.is_unread ? kIsUnread : 0)),
                                  .name = static_cast<uint32_t>(file.name),
                                  .digest = file.digest,
                                  .target = file.target,
                                  .zero = 0};
  }
  std::vector<StatRecord> targets;
  for (const FileStat& target : targets_) targets.push_back(RecordOf(target));

  StampHeader header{.folders = folders.size(),
                     .files = files.size(),
                     .digests = digests_.size(),
                     .targets = targets.size(),
                     .names_bytes = names_.size()};
  std::string bytes = BytesOf(header);
  bytes.reserve(sizeof(header) + folders.size() * sizeof(FolderRecord) +
                files.size() * sizeof(FileRecord) + targets.size() * sizeof(StatRecord) +
                digests_.size() * Digest::kHashSize + names_.size());
  AppendRecords(bytes, folders);
  AppendRecords(bytes, files);
  AppendRecords(bytes, targets);
  for (const Digest& digest : digests_) bytes.append(digest.hash());
  bytes.append(names_);
  return PatchedFile::Seal(kStampMagic, bytes);
}

StampTable::StampTable(std::unique_ptr<StampRecords> records) : records_(std::move(records)) {}
StampTable::StampTable(StampTable&&) noexcept = default;
StampTable& StampTable::operator=(StampTable&&) noexcept = default;
StampTable::~StampTable() = default;

absl::StatusOr<StampTable> StampTable::Open(const std::string& file) {
  ASSIGN_OR_RETURN(std::unique_ptr<PatchedFile> opened, PatchedFile::Open(file, kStampMagic));
  auto records = std::make_unique<StampRecords>(std::move(opened));
  RETURN_IF_ERROR(records->ReadHeader());
  return StampTable(std::move(records));
}

std::string StampTable::id() const { return records_->file().id(); }
absl::Status StampTable::Verify() const { return records_->file().Verify(); }

absl::StatusOr<std::string> StampTable::With(const std::vector<StampPatch>& patches) const {
  const StampRecords& table = *records_;
  std::map<std::string_view, std::map<std::string_view, const StampPatch*>> wanted;
  for (const StampPatch& patch : patches) {
    const StampPatch*& one = wanted[patch.folder][patch.name];
    // A file that two folders of the table have was looked at twice.
    if (one == nullptr || !one->digest.has_value()) one = &patch;
  }
  std::set<const StampPatch*> found;
  PatchedFile::Ranges ranges;
  const auto put = [&](const StatRecord& record, const StampPatch& patch) {
    const uint32_t kept = record.flags & ~(kIsRacy | (patch.digest ? kIsUnread : 0));
    const StatRecord now = RecordOf(patch.stat, kept | (patch.is_racy ? kIsRacy : 0));
    ranges[table.OffsetOf(&record)] = BytesOf(now);
    found.insert(&patch);
  };
  for (uint32_t f = 0; f < table.folders(); ++f) {
    const FolderRecord& folder = table.folder(f);
    if ((folder.stat.flags & kIsLeftOut) != 0) continue;
    const auto in_folder = wanted.find(table.name(folder.path));
    if (in_folder == wanted.end()) continue;
    const std::map<std::string_view, const StampPatch*>& in_it = in_folder->second;
    if (const auto patch = in_it.find(""); patch != in_it.end()) {
      put(folder.stat, *patch->second);
      if (patch->second->names)
        ranges[table.OffsetOf(&folder.names)] = BytesOf(*patch->second->names);
    }
    for (uint32_t i = folder.first_file; i < folder.first_file + folder.file_count; ++i) {
      const FileRecord& file = table.file(i);
      const auto patch = in_it.find(table.name(file.name));
      if (patch == in_it.end() || file.target != 0) continue;
      const std::optional<Digest>& digest = patch->second->digest;
      // The new stamp with the old digest would be a lie.
      const bool was_read = file.digest != 0 && (file.stat.flags & kIsUnread) == 0;
      if (was_read && patch->second->has_other_bytes && !digest.has_value()) continue;
      put(file.stat, *patch->second);
      if (digest.has_value() && file.digest != 0)
        ranges[table.OffsetOf(table.digest(file.digest - 1).data())] = digest->hash();
    }
  }
  RETURN_IF_ERROR(table.file().Status());
  for (const auto& [folder, in_it] : wanted) {
    for (const auto& [name, patch] : in_it) {
      if (!found.contains(patch))
        return FailedPreconditionError("{} has no stamp that could be another one",
                                       patch->host_path());
    }
  }
  return table.file().With(ranges);
}

std::vector<std::string_view> StampTable::Folders() const {
  std::vector<std::string_view> folders;
  folders.reserve(records_->folders());
  for (uint32_t f = 0; f < records_->folders(); ++f) {
    const FolderRecord& folder = records_->folder(f);
    const bool is_left_out = (folder.stat.flags & kIsLeftOut) != 0;
    folders.emplace_back(is_left_out ? "" : records_->name(folder.path));
  }
  return folders;
}

std::optional<NamesHash> StampTable::NamesOf(std::string_view host_path) const {
  for (uint32_t f = 0; f < records_->folders(); ++f) {
    const FolderRecord& folder = records_->folder(f);
    const bool is_left_out = (folder.stat.flags & kIsLeftOut) != 0;
    if (!is_left_out && records_->name(folder.path) == host_path) return folder.names;
  }
  return std::nullopt;
}

bool StampTable::IsLaidOutAs(const StampTable& other) const {
  if (records_->file().HasBaseOf(other.records_->file())) return true;
  if (records_->files() != other.records_->files() || Folders() != other.Folders()) return false;
  for (uint32_t f = 0; f < records_->folders(); ++f) {
    if (records_->folder(f).first_file != other.records_->folder(f).first_file) return false;
  }
  return true;
}

bool StampTable::HasLinkedFolders() const {
  for (uint32_t f = 0; f < records_->folders(); ++f) {
    if ((records_->folder(f).stat.flags & kIsLink) != 0) return true;
  }
  return false;
}

StampCheck StampTable::Check(const CheckOptions& options) const {
  return CheckStamps(*records_, options);
}

}  // namespace galley::content

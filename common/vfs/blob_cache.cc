#include "common/vfs/blob_cache.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace galley::vfs {
namespace {

constexpr size_t kPieceBytes = 256 << 10;
constexpr uint64_t kReadBytesMax = 64 << 20;  // of a blob that is read whole
constexpr int kPartsMax = 64;                 // of one blob
constexpr uint64_t kLooks = 16;               // at the folder, while the quota is fetched once

std::string NameOf(const BlobId& blob) {
  return ToHex(blob.hash) + "-" + std::to_string(blob.size);
}

std::optional<BlobId> BlobOfName(std::string_view name) {
  const size_t dash = name.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  std::string text(name);
  text[dash] = '/';
  return BlobId::Parse(text);
}

// Adds the file's bytes to the hash, and returns how many there are.
Result<uint64_t> HashFile(const OpenFile& file, Sha256& hash) {
  std::vector<char> piece(kPieceBytes);
  uint64_t done = 0;
  while (true) {
    const Result<size_t> got = file.ReadAt(done, piece.data(), piece.size());
    if (!got.ok()) return got.fault();
    hash.Add(piece.data(), *got);
    done += *got;
    if (*got < piece.size()) return done;
  }
}

Fault Absent() { return {kNotCached, "the cache does not have it"}; }

// A file that is not where it should be is no path that the world lacks.
Fault OfDisk(Fault fault) {
  if (fault.code == GALLEY_VFS_ABSENT) fault.code = GALLEY_VFS_IO;
  return fault;
}

}  // namespace

BlobPart::~BlobPart() {
  if (file_ != nullptr) cache_.Leave(*this);
}

Outcome BlobPart::Write(std::string_view& bytes) {
  const Outcome failed = file_->Append(bytes);
  size_t written = bytes.size();
  if (failed) {
    const Result<uint64_t> now = file_->Size();
    if (!now.ok()) return now.fault();
    written = static_cast<size_t>(std::min<uint64_t>(*now - std::min(*now, size_), bytes.size()));
  }
  hash_.Add(bytes.data(), written);
  size_ += written;
  bytes.remove_prefix(written);
  return failed;
}

std::string BlobCache::FolderOf(const BlobId& blob) const {
  return options_.folder + "/blobs/" + ToHex(blob.hash).substr(0, 2);
}

std::string BlobCache::PathOf(const BlobId& blob) const {
  return FolderOf(blob) + "/" + NameOf(blob);
}

// ------------------------------------------------------------------ blobs

Outcome BlobCache::Begin() {
  if (Outcome failed = MakeFolder(options_.folder + "/blobs")) return failed;
  if (Outcome failed = MakeFolder(options_.folder + "/part")) return failed;
  const std::lock_guard lock(files_mutex_);
  TrimParts();
  const Result<std::vector<CacheFile>> found = Look();
  return found.ok() ? std::nullopt : Outcome(found.fault());
}

Result<bool> BlobCache::IsRight(const BlobId& blob, const OpenFile& file) const {
  Sha256 hash;
  const Result<uint64_t> size = HashFile(file, hash);
  if (!size.ok()) return size.fault();
  return *size == blob.size && hash.Finish() == blob.hash;
}

// The bytes may be wrong.
Result<std::shared_ptr<OpenFile>> BlobCache::OpenAsItIs(const BlobId& blob) {
  Result<std::unique_ptr<OpenFile>> opened = options_.disk.OpenToRead(PathOf(blob));
  if (!opened.ok() && opened.fault().code == GALLEY_VFS_ABSENT) {
    const std::lock_guard lock(mutex_);
    verified_.Erase(blob.hash);  // another process has removed it
    return Absent();
  }
  if (!opened.ok() && opened.fault().code == kNotAFile) return RemoveWrong(blob);
  if (!opened.ok()) return opened.fault();
  return std::shared_ptr<OpenFile>(*std::move(opened));
}

Result<std::shared_ptr<OpenFile>> BlobCache::Open(const BlobId& blob) {
  Result<std::shared_ptr<OpenFile>> file = OpenAsItIs(blob);
  if (!file.ok()) return file;
  const Result<bool> is_right = IsVerified(blob, **file);
  // A disk that cannot read a file says nothing about its bytes.
  if (!is_right.ok()) return is_right.fault();
  if (!*is_right) return RemoveWrong(blob);
  NoteUsed(blob);
  return file;
}

void BlobCache::NoteUsed(const BlobId& blob) {
  const std::string path = PathOf(blob);
  const Result<FileFacts> facts = options_.disk.Look(path);
  const int64_t now = options_.now_s();
  if (facts.ok() && (facts->used_s + kTouchS < now || facts->used_s > now))
    options_.disk.Touch(path, now);
}

// False: the bytes are wrong. They are hashed once in a process.
Result<bool> BlobCache::IsVerified(const BlobId& blob, const OpenFile& file) {
  const Result<uint64_t> size = file.Size();
  if (!size.ok()) return size.fault();
  if (*size != blob.size) return false;
  {
    const std::lock_guard lock(mutex_);
    if (verified_.Contains(blob.hash)) return true;
  }
  const Result<bool> is_right = IsRight(blob, file);
  if (!is_right.ok() || !*is_right) return is_right;
  NoteVerified(blob.hash);
  return true;
}

// A blob that is forgotten is hashed once more.
void BlobCache::NoteVerified(const Hash& hash) {
  const std::lock_guard lock(mutex_);
  if (verified_.size() >= kVerifiedMax) verified_ = {};
  verified_.Insert(hash);
}

// Something else than the blob lies in its place. Returns what to tell whoever wanted it.
Fault BlobCache::RemoveWrong(const BlobId& blob) {
  const std::string path = PathOf(blob);
  const std::lock_guard files_lock(files_mutex_);
  const Result<FileFacts> facts = options_.disk.Look(path);
  const Outcome failed = options_.disk.Remove(path);
  {
    const std::lock_guard lock(mutex_);
    ++counts_.damaged;
  }
  if (failed) return {GALLEY_VFS_IO, failed->text + "; it is not what it should be: remove it"};
  if (facts.ok() && IsFile(*facts)) NoteRemoved({.path = path, .size = facts->size});
  return Absent();
}

Result<std::string> BlobCache::Read(const BlobId& blob) {
  if (blob.size > kReadBytesMax) return Fault{GALLEY_VFS_INVALID, "the blob is too large"};
  const Result<std::shared_ptr<OpenFile>> file = OpenAsItIs(blob);
  if (!file.ok()) return file.fault();
  const Result<uint64_t> size = (*file)->Size();
  if (!size.ok()) return size.fault();
  std::string bytes(static_cast<size_t>(blob.size), '\0');
  const Result<size_t> got = (*file)->ReadAt(0, bytes.data(), bytes.size());
  if (!got.ok()) return got.fault();
  if (*size != blob.size || *got < bytes.size() || Sha256::Of(bytes) != blob.hash)
    return RemoveWrong(blob);
  NoteUsed(blob);
  const std::lock_guard lock(mutex_);
  verified_.Erase(blob.hash);  // as it was fetched
  return bytes;
}

bool BlobCache::Has(const BlobId& blob) {
  const Result<FileFacts> facts = options_.disk.Look(PathOf(blob));
  return facts.ok() && IsFile(*facts) && facts->size == blob.size;
}

void BlobCache::NoteRemoved(const CacheFile& file) {
  const std::optional<BlobId> blob = BlobOfName(file.name());
  const std::lock_guard lock(mutex_);
  if (file.is_part) {
    idle_part_bytes_ -= std::min(idle_part_bytes_, file.size);
    return;
  }
  if (blob) verified_.Erase(blob->hash);
  counts_.blobs -= std::min<uint64_t>(counts_.blobs, 1);
  counts_.bytes -= std::min(counts_.bytes, file.size);
}

// A file in its place is removed.
Outcome BlobCache::MakeFolder(const std::string& path) {
  Outcome failed = options_.disk.MakeFolder(path);
  if (!failed || failed->code == GALLEY_VFS_NO_SPACE || options_.disk.Remove(path)) return failed;
  return options_.disk.MakeFolder(path);
}

BlobCacheCounts BlobCache::counts() const {
  const std::lock_guard lock(mutex_);
  BlobCacheCounts counts = counts_;
  counts.bytes += idle_part_bytes_ + live_part_bytes_;
  return counts;
}

// ------------------------------------------------------------------ parts

Result<std::unique_ptr<BlobPart>> BlobCache::BeginPart(const BlobId& blob) {
  if (blob.size > options_.bytes_max) {
    return Fault{GALLEY_VFS_NO_SPACE, "it has " + std::to_string(blob.size) +
                                          " bytes, and the cache may have " +
                                          std::to_string(options_.bytes_max)};
  }
  std::unique_ptr<BlobPart> begun;
  const Outcome failed = WithRoom(blob, blob.size, [&]() -> Outcome {
    Result<std::unique_ptr<BlobPart>> part = BeginAnyPart(blob);
    if (!part.ok()) return part.fault();
    begun = *std::move(part);
    return std::nullopt;
  });
  if (failed) return *failed;
  return begun;
}

// Another process, or another thread, may fetch the same blob: then each fetches its own.
Result<std::unique_ptr<BlobPart>> BlobCache::BeginAnyPart(const BlobId& blob) {
  Fault last{GALLEY_VFS_IO, "all parts of " + blob.ToText() + " are locked"};
  for (int i = 0; i < kPartsMax; ++i) {
    const std::string path =
        options_.folder + "/part/" + NameOf(blob) + (i == 0 ? "" : "." + std::to_string(i));
    Result<std::unique_ptr<BlobPart>> part = OpenPart(blob, path);
    if (!part.ok() && part.fault().code == GALLEY_VFS_NO_SPACE) return part.fault();
    if (!part.ok() && part.fault().code != kNotCached) last = OfDisk(part.fault());
    if (!part.ok()) continue;
    if ((*part)->size_ <= blob.size) return part;
    Drop(**part);
  }
  return last;
}

// kNotCached: somebody else has it. Whatever lies in its place and is no file is removed.
Result<std::unique_ptr<BlobPart>> BlobCache::OpenPart(const BlobId& blob, const std::string& path) {
  Result<std::unique_ptr<OpenFile>> file = options_.disk.OpenToAppend(path);
  if (!file.ok() && file.fault().code == kNotAFile) {
    if (const Outcome failed = options_.disk.Remove(path)) return *failed;
    file = options_.disk.OpenToAppend(path);
  } else if (!file.ok() && file.fault().code == GALLEY_VFS_ABSENT) {
    if (const Outcome failed = MakeFolder(options_.folder + "/part")) return *failed;
    file = options_.disk.OpenToAppend(path);
  }
  if (!file.ok()) return file.fault();
  if (!(*file)->Lock()) return Absent();
  // Whoever had the lock before may have removed the file.
  const Result<FileFacts> there = options_.disk.Look(path);
  const Result<uint64_t> id = (*file)->Id();
  if (!there.ok() || !id.ok() || there->id != *id) return Absent();
  Sha256 hash;
  const Result<uint64_t> size = HashFile(**file, hash);
  if (!size.ok()) return size.fault();
  auto part = std::make_unique<BlobPart>(*this, blob, *std::move(file), path);
  part->hash_ = hash;
  part->size_ = part->reserved_ = *size;
  const std::lock_guard lock(mutex_);
  live_.insert(path);
  live_part_bytes_ += *size;
  idle_part_bytes_ -= std::min(idle_part_bytes_, *size);
  return part;
}

Outcome BlobCache::Append(BlobPart& part, std::string_view bytes) {
  if (Outcome failed = Reserve(part, bytes.size())) return failed;
  return WithRoom(part.blob_, part.blob_.size - part.size_,
                  [&]() -> Outcome { return part.Write(bytes); });
}

Outcome BlobCache::Finish(BlobPart& part) {
  if (!IsWhole(part)) {
    Drop(part);
    const std::lock_guard lock(mutex_);
    ++counts_.damaged;
    return Fault{GALLEY_VFS_DAMAGED, "the bytes are not those of " + part.blob_.ToText()};
  }
  return WithRoom(part.blob_, 0, [&]() -> Outcome { return MoveIntoPlace(part); });
}

// On a file system without locks, another process may have written to the file, too.
bool BlobCache::IsWhole(BlobPart& part) const {
  const Result<uint64_t> size = part.file_->Size();
  return size.ok() && *size == part.blob_.size && part.size_ == part.blob_.size &&
         part.hash_.Finish() == part.blob_.hash;
}

Outcome BlobCache::MoveIntoPlace(BlobPart& part) {
  const BlobId& blob = part.blob_;
  if (Outcome failed = MakeFolder(FolderOf(blob))) return failed;
  const std::lock_guard files_lock(files_mutex_);
  const bool was_there = Has(blob);
  if (Outcome failed = RenameTo(part.path_, PathOf(blob))) return failed;
  EndPart(part);
  NoteVerified(blob.hash);
  const std::lock_guard lock(mutex_);
  if (was_there) return std::nullopt;
  ++counts_.blobs;
  counts_.bytes += blob.size;
  return std::nullopt;
}

// Whatever lies in its place and is no file is removed.
Outcome BlobCache::RenameTo(const std::string& from, const std::string& to) {
  const Outcome failed = options_.disk.Rename(from, to);
  if (!failed) return std::nullopt;
  if (failed->code == GALLEY_VFS_NO_SPACE || options_.disk.Remove(to)) return OfDisk(*failed);
  const Outcome again = options_.disk.Rename(from, to);
  return again ? Outcome(OfDisk(*again)) : std::nullopt;
}

// Lets the file and its lock go.
void BlobCache::EndPart(BlobPart& part) {
  part.file_.reset();
  const std::lock_guard lock(mutex_);
  live_.erase(part.path_);
  live_part_bytes_ -= std::min(live_part_bytes_, part.reserved_);
}

// Removed while it is locked, so that nobody goes on with it.
void BlobCache::Drop(BlobPart& part) {
  if (part.file_ == nullptr) return;
  const std::lock_guard lock(files_mutex_);
  static_cast<void>(options_.disk.Remove(part.path_));
  EndPart(part);
}

// Nobody fetches it any more; what it has stays.
void BlobCache::Leave(BlobPart& part) {
  if (part.size_ == 0) return Drop(part);
  const std::lock_guard files_lock(files_mutex_);
  EndPart(part);
  {
    const std::lock_guard lock(mutex_);
    idle_part_bytes_ += part.size_;
    if (++left_parts_ < kIdlePartsMax) return;
  }
  TrimParts();
}

// Removes parts that are empty, old, or too many. REQUIRES: files_mutex_ is held.
void BlobCache::TrimParts() {
  const Result<std::vector<CacheFile>> files = ListCacheFiles(options_.disk, options_.folder);
  if (!files.ok()) return;  // whoever needs a part will hear of it
  size_t newer = static_cast<size_t>(std::ranges::count(*files, true, &CacheFile::is_part));
  for (const CacheFile& file : *files) {
    if (!file.is_part) continue;
    const bool is_old = file.used_s + kPartAgeS < options_.now_s();
    if (is_old || file.size == 0 || newer > kIdlePartsMax) RemoveIdlePart(file);
    --newer;
  }
  const std::lock_guard lock(mutex_);
  left_parts_ = 0;
}

// False: somebody fetches it.
bool BlobCache::RemoveIdlePart(const CacheFile& part) {
  {
    const std::lock_guard lock(mutex_);
    if (live_.contains(part.path)) return false;
  }
  const Result<std::unique_ptr<OpenFile>> file = options_.disk.OpenToAppend(part.path);
  if (!file.ok() || !(*file)->Lock() || options_.disk.Remove(part.path)) return false;
  NoteRemoved(part);
  return true;
}

// ------------------------------------------------------------------ room

// Does what may find the disk full; then removes files, and does it again. `bytes`: how many are
// needed on the disk.
template <typename Act>
Outcome BlobCache::WithRoom(const BlobId& blob, uint64_t bytes, const Act& act) {
  while (true) {
    Outcome failed = act();
    if (!failed || failed->code != GALLEY_VFS_NO_SPACE) return failed;
    if (EvictForDisk(std::clamp<uint64_t>(bytes, 1, kStepBytes))) continue;
    return Fault{GALLEY_VFS_NO_SPACE,
                 failed->text + "; " + std::to_string(std::max<uint64_t>(bytes, 1)) +
                     " bytes more are needed in " + options_.folder + " for " + blob.ToText() +
                     ", and the cache has nothing to remove: free some space there"};
  }
}

// `bytes`: that are to be written now.
Outcome BlobCache::Reserve(BlobPart& part, uint64_t bytes) {
  const uint64_t needed = part.size_ + bytes;
  if (needed <= part.reserved_) return std::nullopt;
  const uint64_t ahead = std::min(part.reserved_ + kStepBytes, part.blob_.size);
  const uint64_t more = std::max(needed, ahead) - part.reserved_;
  const std::lock_guard files_lock(files_mutex_);
  unlooked_bytes_ += more;
  const bool is_look_due = unlooked_bytes_ > options_.bytes_max / kLooks;
  if (is_look_due || Taken() + more > options_.bytes_max) {
    if (Outcome failed = MakeRoom(more)) return failed;
  }
  part.reserved_ += more;
  const std::lock_guard lock(mutex_);
  live_part_bytes_ += more;
  return std::nullopt;
}

uint64_t BlobCache::Taken() const { return counts().bytes; }

// Counts what lies there. REQUIRES: files_mutex_ is held.
Result<std::vector<CacheFile>> BlobCache::Look() {
  Result<std::vector<CacheFile>> files = ListCacheFiles(options_.disk, options_.folder);
  if (!files.ok()) return files;
  unlooked_bytes_ = 0;
  const std::lock_guard lock(mutex_);
  counts_.blobs = counts_.bytes = idle_part_bytes_ = 0;
  for (const CacheFile& file : *files) {
    if (file.is_part && !live_.contains(file.path)) idle_part_bytes_ += file.size;
    if (file.is_part) continue;
    ++counts_.blobs;
    counts_.bytes += file.size;
  }
  return files;
}

// REQUIRES: files_mutex_ is held.
Outcome BlobCache::MakeRoom(uint64_t bytes) {
  const Result<std::vector<CacheFile>> files = Look();  // others may have removed some
  if (!files.ok()) return OfDisk(files.fault());
  if (Taken() + bytes <= options_.bytes_max) return std::nullopt;
  const uint64_t wanted = options_.bytes_max / 10 * 9;
  for (const CacheFile& file : *files) {
    if (Taken() + bytes <= wanted) break;
    Evict(file);
  }
  if (Taken() + bytes <= options_.bytes_max) return std::nullopt;
  return Fault{GALLEY_VFS_NO_SPACE, "the cache may have " + std::to_string(options_.bytes_max) +
                                        " bytes, and other files that are on their way have them: "
                                        "fetch fewer at a time, or set cache_bytes_max higher"};
}

// REQUIRES: files_mutex_ is held. False: the file stays.
bool BlobCache::Evict(const CacheFile& file) {
  if (file.is_part) return RemoveIdlePart(file);
  if (options_.disk.Remove(file.path)) return false;
  NoteRemoved(file);
  const std::lock_guard lock(mutex_);
  ++counts_.evicted;
  return true;
}

// False: there is nothing to remove.
bool BlobCache::EvictForDisk(uint64_t bytes) {
  const std::lock_guard files_lock(files_mutex_);
  const Result<std::vector<CacheFile>> files = Look();
  if (!files.ok()) return false;
  uint64_t freed = 0;
  bool has_removed = false;
  for (const CacheFile& file : *files) {
    if (freed >= bytes) break;
    if (!Evict(file)) continue;
    freed += file.size;
    has_removed = true;
  }
  return has_removed;
}

}  // namespace galley::vfs

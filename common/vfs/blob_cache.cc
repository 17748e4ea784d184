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

bool IsFile(const FileFacts& facts) { return !facts.is_folder && !facts.is_other; }

// A file that is not where it should be is no path that the world lacks.
Fault OfDisk(Fault fault) {
  if (fault.code == GALLEY_VFS_ABSENT) fault.code = GALLEY_VFS_IO;
  return fault;
}

}  // namespace

Outcome BlobPart::Append(std::string_view bytes) {
  if (Outcome failed = file_->Append(bytes)) return failed;
  hash_.Add(bytes.data(), bytes.size());
  size_ += bytes.size();
  return std::nullopt;
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
  RemoveOldParts();
  return Look();
}

// Counts what lies there.
Outcome BlobCache::Look() {
  const Result<std::vector<FileFacts>> folders = options_.disk.List(options_.folder + "/blobs");
  if (!folders.ok()) return folders.fault();
  BlobCacheCounts found;
  for (const FileFacts& folder : *folders) {
    if (!folder.is_folder) continue;
    const auto files = options_.disk.List(options_.folder + "/blobs/" + folder.name);
    if (!files.ok()) return files.fault();
    for (const FileFacts& file : *files) {
      if (!IsFile(file)) continue;
      ++found.blobs;
      found.bytes += file.size;
    }
  }
  const std::lock_guard lock(mutex_);
  counts_.blobs = found.blobs;
  counts_.bytes = found.bytes;
  return std::nullopt;
}

void BlobCache::RemoveOldParts() {
  const Result<std::vector<FileFacts>> parts = options_.disk.List(options_.folder + "/part");
  if (!parts.ok()) return;  // whoever needs a part will hear of it
  for (const FileFacts& part : *parts) {
    if (part.used_s + kPartAgeS >= options_.now_s()) continue;
    const std::string path = options_.folder + "/part/" + part.name;
    const Result<std::unique_ptr<OpenFile>> file = options_.disk.OpenToAppend(path);
    if (file.ok() && (*file)->Lock()) static_cast<void>(options_.disk.Remove(path));
  }
}

Result<bool> BlobCache::IsRight(const BlobId& blob, const OpenFile& file) const {
  Sha256 hash;
  const Result<uint64_t> size = HashFile(file, hash);
  if (!size.ok()) return size.fault();
  return *size == blob.size && hash.Finish() == blob.hash;
}

Result<std::shared_ptr<OpenFile>> BlobCache::Open(const BlobId& blob) {
  const std::string path = PathOf(blob);
  Result<std::unique_ptr<OpenFile>> opened = options_.disk.OpenToRead(path);
  if (!opened.ok() && opened.fault().code == GALLEY_VFS_ABSENT) return Absent();
  if (!opened.ok() && opened.fault().code == kNotAFile) return RemoveWrong(blob);
  if (!opened.ok()) return opened.fault();
  std::shared_ptr<OpenFile> file = std::move(*opened);
  const Result<bool> is_right = IsVerified(blob, *file);
  // A disk that cannot read a file says nothing about its bytes.
  if (!is_right.ok()) return is_right.fault();
  if (!*is_right) return RemoveWrong(blob);
  const Result<FileFacts> facts = options_.disk.Look(path);
  const int64_t now = options_.now_s();
  if (facts.ok() && (facts->used_s + kTouchS < now || facts->used_s > now))
    options_.disk.Touch(path, now);
  return file;
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
  const std::lock_guard lock(mutex_);
  verified_.Insert(blob.hash);
  return true;
}

// Something else than the blob lies in its place. Returns what to tell whoever wanted it.
Fault BlobCache::RemoveWrong(const BlobId& blob) {
  const std::string path = PathOf(blob);
  const Result<FileFacts> facts = options_.disk.Look(path);
  const Outcome failed = options_.disk.Remove(path);
  {
    const std::lock_guard lock(mutex_);
    ++counts_.damaged;
  }
  if (failed) return {GALLEY_VFS_IO, failed->text + "; it is not what it should be: remove it"};
  if (facts.ok() && IsFile(*facts)) NoteRemoved({blob.hash, facts->size});
  return Absent();
}

Result<std::string> BlobCache::Read(const BlobId& blob) {
  if (blob.size > kReadBytesMax) return Fault{GALLEY_VFS_INVALID, "the blob is too large"};
  const Result<std::shared_ptr<OpenFile>> file = Open(blob);
  if (!file.ok()) return file.fault();
  std::string bytes(static_cast<size_t>(blob.size), '\0');
  const Result<size_t> got = (*file)->ReadAt(0, bytes.data(), bytes.size());
  if (!got.ok()) return got.fault();
  if (*got < bytes.size()) return Absent();
  return bytes;
}

bool BlobCache::Has(const BlobId& blob) {
  const Result<FileFacts> facts = options_.disk.Look(PathOf(blob));
  return facts.ok() && IsFile(*facts) && facts->size == blob.size;
}

void BlobCache::NoteRemoved(const BlobId& blob) {
  const std::lock_guard lock(mutex_);
  verified_.Erase(blob.hash);
  counts_.blobs -= std::min<uint64_t>(counts_.blobs, 1);
  counts_.bytes -= std::min(counts_.bytes, blob.size);
}

// ------------------------------------------------------------------ parts

Result<std::unique_ptr<BlobPart>> BlobCache::BeginPart(const BlobId& blob) {
  if (blob.size > options_.bytes_max) {
    return Fault{GALLEY_VFS_NO_SPACE, "it has " + std::to_string(blob.size) +
                                          " bytes, and the cache may have " +
                                          std::to_string(options_.bytes_max)};
  }
  if (const Outcome failed = MakeRoom(blob.size)) return *failed;
  // Another process, or another thread, may fetch the same blob: then each fetches its own.
  Fault last{GALLEY_VFS_IO, "all parts of " + blob.ToText() + " are locked"};
  for (int i = 0; i < kPartsMax; ++i) {
    const std::string path =
        options_.folder + "/part/" + NameOf(blob) + (i == 0 ? "" : "." + std::to_string(i));
    Result<std::unique_ptr<BlobPart>> part = OpenPart(path);
    if (!part.ok() && part.fault().code == GALLEY_VFS_NO_SPACE) return part.fault();
    if (!part.ok() && part.fault().code != kNotCached) last = OfDisk(part.fault());
    if (!part.ok()) continue;
    if ((*part)->size_ <= blob.size) return part;
    Drop(**part);
  }
  return last;
}

// kNotCached: somebody else has it. Whatever lies in its place and is no file is removed.
Result<std::unique_ptr<BlobPart>> BlobCache::OpenPart(const std::string& path) {
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
  auto part = std::make_unique<BlobPart>(*std::move(file), path);
  const Result<uint64_t> size = HashFile(*part->file_, part->hash_);
  if (!size.ok()) return size.fault();
  part->size_ = *size;
  return part;
}

// A file in its place is removed.
Outcome BlobCache::MakeFolder(const std::string& path) {
  Outcome failed = options_.disk.MakeFolder(path);
  if (!failed || failed->code == GALLEY_VFS_NO_SPACE || options_.disk.Remove(path)) return failed;
  return options_.disk.MakeFolder(path);
}

Outcome BlobCache::Finish(const BlobId& blob, BlobPart& part) {
  if (part.size_ != blob.size || part.hash_.Finish() != blob.hash) {
    Drop(part);
    const std::lock_guard lock(mutex_);
    ++counts_.damaged;
    return Fault{GALLEY_VFS_DAMAGED, "the bytes are not those of " + blob.ToText()};
  }
  if (Outcome failed = MakeFolder(FolderOf(blob))) return failed;
  const bool was_there = Has(blob);
  if (Outcome failed = RenameTo(part.path_, PathOf(blob))) return failed;
  part.file_.reset();
  const std::lock_guard lock(mutex_);
  verified_.Insert(blob.hash);
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

// Removed while it is locked, so that nobody goes on with it.
void BlobCache::Drop(BlobPart& part) {
  static_cast<void>(options_.disk.Remove(part.path_));
  part.file_.reset();
}

// ------------------------------------------------------------------ room

Outcome BlobCache::MakeRoom(uint64_t bytes) {
  {
    const std::lock_guard lock(mutex_);
    if (counts_.bytes + bytes <= options_.bytes_max) return std::nullopt;
  }
  if (Outcome failed = Look()) return failed;  // others may have removed some
  const Result<std::vector<FileFacts>> folders = options_.disk.List(options_.folder + "/blobs");
  if (!folders.ok()) return folders.fault();
  struct Old {
    int64_t used_s;
    std::string path;
    uint64_t size;
  };
  std::vector<Old> blobs;
  for (const FileFacts& folder : *folders) {
    const std::string path = options_.folder + "/blobs/" + folder.name;
    const auto files = options_.disk.List(path);
    if (!files.ok()) continue;
    for (const FileFacts& file : *files) {
      if (IsFile(file)) blobs.push_back({file.used_s, path + "/" + file.name, file.size});
    }
  }
  std::ranges::sort(blobs, {}, [](const Old& one) { return std::pair(one.used_s, one.path); });
  const uint64_t wanted = options_.bytes_max / 10 * 9;
  uint64_t left = counts().bytes;
  for (const Old& one : blobs) {
    if (left + bytes <= wanted) break;
    if (options_.disk.Remove(one.path)) continue;
    left -= std::min(left, one.size);
    const auto blob = BlobOfName(std::string_view(one.path).substr(one.path.rfind('/') + 1));
    NoteRemoved(BlobId{blob ? blob->hash : Hash{}, one.size});
    const std::lock_guard lock(mutex_);
    ++counts_.evicted;
  }
  return std::nullopt;
}

BlobCacheCounts BlobCache::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

}  // namespace galley::vfs

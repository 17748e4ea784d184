#include "common/store/local/blob_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "common/base/errors.h"
#include "common/base/own_file.h"
#include "common/base/sabotage.h"
#include "common/base/status_macros.h"
#include "common/store/interface/store.h"
#include "common/store/local/layout.h"
#include "common/store/local/open.h"
#include "common/store/local/writer_note.h"
#include "fmt/format.h"

namespace galley::store {
namespace {

constexpr size_t kPieceBytes = 1 << 20;

absl::Status Wrong(const Digest& digest, const std::string& path) {
  return DataLossError("blob {}: its bytes in {} are wrong", digest.ToString(), path);
}

// True: the right file lies there, and the caller may rely on it from here on. The file's time says
// so to a collection, which looks at the time again after it has put the file aside, and then puts
// it back (maintenance/left_behind.h). A file with more than one name was adopted, since only such
// files are linked to people's folders: its time is theirs.
bool KeepsBlobFile(const std::string& store_directory, const Digest& digest) {
  if (!CheckBlobFile(store_directory, digest).ok()) return false;
  if (!NoteWritten(store_directory, digest).ok()) return false;
  const std::string path = BlobFilePath(store_directory, digest);
  struct stat s {};
  if (::stat(path.c_str(), &s) != 0) return false;
  if (s.st_nlink > 1) return true;
  return ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0) == 0 && FileExists(path);
}

absl::Status PutBlobFile(const std::string& store_directory, const Digest& digest,
                         TemporaryFile& file) {
  RETURN_IF_ERROR(NoteWritten(store_directory, digest));
  return file.PutAt(BlobFilePath(store_directory, digest));
}

class FileReader final : public BlobReader {
 public:
  FileReader(FileDescriptor file, std::string path, const Digest& digest, uint64_t offset)
      : file_(std::move(file)), path_(std::move(path)), digest_(digest), from_(offset) {}

  absl::StatusOr<std::string_view> Next(size_t bytes_max) override {
    while (rest_.empty() && read_ < digest_.size_bytes()) RETURN_IF_ERROR(ReadPiece());
    const std::string_view piece = rest_.substr(0, bytes_max);
    rest_.remove_prefix(piece.size());
    return piece;
  }

 private:
  // The last one is found to be right together with all before it, or is kept back.
  absl::Status ReadPiece() {
    piece_.resize(std::min<uint64_t>(kPieceBytes, digest_.size_bytes() - read_));
    size_t done = 0;
    while (done < piece_.size()) {
      const ssize_t count = ::read(file_.get(), piece_.data() + done, piece_.size() - done);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0 && errno != EIO && errno != EISDIR) return ErrnoStatus(errno, "read", path_);
      if (count <= 0) return Wrong(digest_, path_);  // unreadable, or cut since it was opened
      done += static_cast<size_t>(count);
    }
    hash_.Add(piece_);
    read_ += piece_.size();
    if (read_ == digest_.size_bytes() && hash_.Finish() != digest_ &&
        !IsSabotaged(Sabotage::kSkipHashCheck))
      return Wrong(digest_, path_);
    rest_ = piece_;
    const uint64_t begin = read_ - piece_.size();
    if (from_ > begin) rest_.remove_prefix(std::min<uint64_t>(from_ - begin, rest_.size()));
    return absl::OkStatus();
  }

  const FileDescriptor file_;
  const std::string path_;
  const Digest digest_;
  const uint64_t from_;
  DigestBuilder hash_;
  uint64_t read_ = 0;
  std::string piece_;
  std::string_view rest_;  // of piece_, not yet given out
};

class FileWriter final : public BlobWriter {
 public:
  FileWriter(TemporaryFile file, std::string store_directory, const Digest& digest,
             std::function<absl::Status()> on_finish)
      : file_(std::move(file)),
        store_directory_(std::move(store_directory)),
        digest_(digest),
        on_finish_(std::move(on_finish)) {}

  absl::Status Append(std::string_view bytes) override {
    RETURN_IF_ERROR(CheckFits(digest_, written_, bytes.size()));
    RETURN_IF_ERROR(file_.Write(bytes));
    hash_.Add(bytes);
    written_ += bytes.size();
    return absl::OkStatus();
  }
  absl::Status Finish() override {
    if (hash_.Finish() != digest_) {
      return InvalidArgumentError("blob {}: the {} bytes given are not those of this digest",
                                  digest_.ToString(), written_);
    }
    if (!KeepsBlobFile(store_directory_, digest_))
      RETURN_IF_ERROR(PutBlobFile(store_directory_, digest_, file_));
    return on_finish_ ? on_finish_() : absl::OkStatus();
  }

 private:
  TemporaryFile file_;
  const std::string store_directory_;
  const Digest digest_;
  const std::function<absl::Status()> on_finish_;
  DigestBuilder hash_;
  uint64_t written_ = 0;
};

}  // namespace

absl::StatusOr<TemporaryFile> TemporaryFile::Create(const std::string& store_directory,
                                                    uint32_t mode) {
  std::string path =
      JoinPath(TemporaryDirectory(store_directory), fmt::format("{}.XXXXXX", ::getpid()));
  FileDescriptor file(::mkostemp(path.data(), O_CLOEXEC));
  if (!file.valid()) return ErrnoStatus(errno, "create", path);
  TemporaryFile temporary(std::move(file), std::move(path));
  if (::fchmod(temporary.descriptor(), mode) != 0)
    return ErrnoStatus(errno, "chmod", temporary.path());
  return temporary;
}

TemporaryFile::TemporaryFile(TemporaryFile&& other) noexcept
    : file_(std::move(other.file_)), path_(std::exchange(other.path_, {})) {}

TemporaryFile::~TemporaryFile() {
  if (!path_.empty()) ::unlink(path_.c_str());
}

absl::Status TemporaryFile::Write(std::string_view bytes) {
  return WriteAll(file_.get(), bytes, path_);
}

absl::Status TemporaryFile::PutAt(const std::string& path) {
  if (::rename(path_.c_str(), path.c_str()) != 0) {
    if (errno == EISDIR) {
      RETURN_IF_ERROR(EnsureWritableFile(path));
    } else if (errno == ENOENT) {
      RETURN_IF_ERROR(CreateDirectories(path.substr(0, path.rfind('/'))));
    } else {
      return ErrnoStatus(errno, "rename", path);
    }
    if (::rename(path_.c_str(), path.c_str()) != 0) return ErrnoStatus(errno, "rename", path);
  }
  path_.clear();
  return absl::OkStatus();
}

absl::Status WriteBlobFile(const std::string& store_directory, const Digest& digest,
                           std::string_view bytes) {
  // A file that is there may be what a power cut left of one: it is kept only when it is right.
  if (KeepsBlobFile(store_directory, digest)) return absl::OkStatus();
  RETURN_IF_ERROR(CheckFreeSpace(store_directory, bytes.size(), kFreeBytesMargin));
  ASSIGN_OR_RETURN(TemporaryFile file, TemporaryFile::Create(store_directory, kBlobFileMode));
  RETURN_IF_ERROR(file.Write(bytes));
  return PutBlobFile(store_directory, digest, file);
}

absl::StatusOr<HashedFile> HashedFile::Create(const std::string& store_directory) {
  ASSIGN_OR_RETURN(TemporaryFile file, TemporaryFile::Create(store_directory, kBlobFileMode));
  return HashedFile(store_directory, std::move(file));
}

absl::Status HashedFile::Append(std::string_view bytes) {
  RETURN_IF_ERROR(CheckFreeSpace(store_directory_, bytes.size(), kFreeBytesMargin));
  RETURN_IF_ERROR(file_.Write(bytes));
  hash_.Add(bytes);
  return absl::OkStatus();
}

absl::Status HashedFile::KeepAs(const Digest& digest) {
  if (KeepsBlobFile(store_directory_, digest)) return absl::OkStatus();
  return PutBlobFile(store_directory_, digest, file_);
}

absl::StatusOr<std::unique_ptr<BlobWriter>> NewBlobFileWriter(
    const std::string& store_directory, const Digest& digest,
    std::function<absl::Status()> on_finish) {
  ASSIGN_OR_RETURN(TemporaryFile file, TemporaryFile::Create(store_directory, kBlobFileMode));
  return std::make_unique<FileWriter>(std::move(file), store_directory, digest,
                                      std::move(on_finish));
}

absl::StatusOr<std::unique_ptr<BlobReader>> NewBlobFileReader(const std::string& store_directory,
                                                              const Digest& digest,
                                                              uint64_t offset) {
  std::string path = BlobFilePath(store_directory, digest);
  absl::StatusOr<FileDescriptor> opened = OpenStored(path, kBlobFileMode);
  if (!opened.ok()) {
    return absl::IsNotFound(opened.status()) ? absl::DataLossError(opened.status().message())
                                             : opened.status();
  }
  FileDescriptor file = *std::move(opened);
  ASSIGN_OR_RETURN(const FileStat stat, StatDescriptor(file.get(), path));
  if (stat.size_bytes != digest.size_bytes()) {
    return DataLossError("blob {}: {} has {} bytes", digest.ToString(), path, stat.size_bytes);
  }
  return std::make_unique<FileReader>(std::move(file), std::move(path), digest, offset);
}

absl::Status CheckBlobFile(const std::string& store_directory, const Digest& digest) {
  ASSIGN_OR_RETURN(const std::unique_ptr<BlobReader> reader,
                   NewBlobFileReader(store_directory, digest, 0));
  while (true) {
    ASSIGN_OR_RETURN(const std::string_view piece, reader->Next(kPieceBytes));
    if (piece.empty()) return absl::OkStatus();
  }
}

}  // namespace galley::store

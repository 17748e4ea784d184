#include "common/store/local/writer_note.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <random>
#include <system_error>
#include <utility>

#include "common/base/file.h"
#include "common/base/mutex.h"
#include "common/base/own_file.h"
#include "common/base/status_macros.h"
#include "common/store/local/layout.h"
#include "common/store/local/segment_format.h"
#include "fmt/format.h"

namespace galley::store {
namespace {

constexpr std::string_view kNoteLine = "galley-writer 1\n";
constexpr std::string_view kMoreLine = "more\n";  // the last one: later files are not noted
constexpr size_t kSumDigits = 16;

std::string WritersFolder(std::string_view store_directory) {
  return JoinPath(store_directory, "writers");
}

// A note that is being written, of this process.
class OpenNote {
 public:
  // `before`: what an earlier note of this process said, which somebody deleted.
  static absl::StatusOr<std::unique_ptr<OpenNote>> Create(const std::string& store_directory,
                                                          const std::set<Digest>& before) {
    const std::string folder = WritersFolder(store_directory);
    const absl::StatusOr<FileStat> there = StatFile(folder);
    if (there.ok() && !S_ISDIR(there->mode)) RETURN_IF_ERROR(PutAside(folder).status());
    RETURN_IF_ERROR(CreateDirectories(folder));
    std::random_device random;
    const std::string path =
        JoinPath(folder, fmt::format("{}.{:08x}{:08x}", ::getpid(), random(), random()));
    std::string text(kNoteLine);
    for (const Digest& digest : before) text += EncodeWritten(digest);
    ASSIGN_OR_RETURN(FileDescriptor file, PutLocked(store_directory, path, text, O_APPEND));
    return std::unique_ptr<OpenNote>(new OpenNote(std::move(file), path, before, text.size()));
  }

  // A child that was forked has a life of its own.
  bool IsOfThisProcess() const { return pid_ == ::getpid(); }
  // The store may have been removed, or moved, and another one made in its place.
  bool IsInPlace() const {
    const absl::StatusOr<FileStat> named = StatFile(path_);
    const absl::StatusOr<FileStat> open = StatDescriptor(file_.get(), path_);
    return named.ok() && open.ok() && named->inode == open->inode && named->device == open->device;
  }

  const std::set<Digest>& noted() const { return noted_; }

  absl::Status Add(const Digest& digest) {
    if (bytes_ > kWriterNoteBytesMax || noted_.contains(digest)) return absl::OkStatus();
    std::string line = EncodeWritten(digest);
    if (bytes_ + line.size() > kWriterNoteBytesMax) line += kMoreLine;
    if (const absl::Status status = WriteAll(file_.get(), line, path_); !status.ok()) {
      // Not half a line, to which the next one would be appended.
      if (::ftruncate(file_.get(), static_cast<off_t>(bytes_)) != 0) bytes_ += line.size();
      return status;
    }
    bytes_ += line.size();
    noted_.insert(digest);
    return absl::OkStatus();
  }

 private:
  OpenNote(FileDescriptor file, std::string path, std::set<Digest> noted, uint64_t bytes)
      : file_(std::move(file)), path_(std::move(path)), noted_(std::move(noted)), bytes_(bytes) {}
  const FileDescriptor file_;
  const std::string path_;
  const pid_t pid_ = ::getpid();
  std::set<Digest> noted_;
  uint64_t bytes_;
};

struct Notes {
  base::Mutex mutex;
  std::map<std::string, std::unique_ptr<OpenNote>> by_store GALLEY_GUARDED_BY(mutex);
};

Notes& TheNotes() {
  static Notes& notes = *new Notes();  // threads may write until the process is gone
  return notes;
}

}  // namespace

std::string EncodeWritten(const Digest& digest) {
  const std::string text = digest.ToString();
  return fmt::format("{} {:016x}\n", text, Checksum(text));
}

Written DecodeWritten(std::string_view text) {
  if (!text.starts_with(kNoteLine)) return {.files = {}, .is_whole = false};
  Written written;
  for (text.remove_prefix(kNoteLine.size()); !text.empty();) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const absl::StatusOr<Digest> digest =
        line.size() < kSumDigits + 1 ? absl::DataLossError("short")
                                     : Digest::Parse(line.substr(0, line.size() - kSumDigits - 1));
    if (digest.ok() && EncodeWritten(*digest) == fmt::format("{}\n", line)) {
      written.files.insert(*digest);
    } else {
      written.is_whole = false;
    }
  }
  return written;
}

absl::Status NoteWritten(const std::string& store_directory, const Digest& digest) {
  Notes& notes = TheNotes();
  const base::MutexLock lock(notes.mutex);
  std::unique_ptr<OpenNote>& note = notes.by_store[store_directory];
  if (note != nullptr && !note->IsOfThisProcess()) note = nullptr;
  if (note == nullptr || !note->IsInPlace()) {
    const std::set<Digest> before = note == nullptr ? std::set<Digest>() : note->noted();
    ASSIGN_OR_RETURN(note, OpenNote::Create(store_directory, before));
  }
  return note->Add(digest);
}

absl::StatusOr<std::vector<WriterNote>> ReadWriterNotes(const std::string& store_directory) {
  std::vector<WriterNote> notes;
  std::error_code error;
  std::filesystem::directory_iterator at(WritersFolder(store_directory), error);
  for (const std::filesystem::directory_iterator end; !error && at != end; at.increment(error)) {
    if (!at->is_regular_file(error)) continue;
    WriterNote note{.path = at->path().string(), .is_live = true, .is_whole = false, .files = {}};
    const FileDescriptor file(::open(note.path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.valid() && errno == ENOENT) continue;
    if (file.valid()) {
      note.is_live = ::flock(file.get(), LOCK_SH | LOCK_NB) != 0;
      absl::StatusOr<std::string> text = ReadFile(note.path, 2 * kWriterNoteBytesMax);
      Written written = DecodeWritten(text.value_or(std::string()));
      note.is_whole = written.is_whole;
      note.files = std::move(written.files);
    }
    notes.push_back(std::move(note));
  }
  if (error && error != std::errc::no_such_file_or_directory)
    return ErrnoStatus(error.value(), "read folder", WritersFolder(store_directory));
  return notes;
}

}  // namespace galley::store

#include "worker/executor/opened_notes.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "common/wire/convert.h"

namespace galley::worker {
namespace {

constexpr uint64_t kNotKnown = ~uint64_t{0};
constexpr off_t kAttemptAt = 0, kSizeAt = 8, kTimeUpAt = 16, kNotesAt = 64;

// To memory: it fails for want of memory only, and then the size says nothing new.
bool Write(int file, std::string_view bytes, off_t at) {
  return ::pwrite(file, bytes.data(), bytes.size(), at) == static_cast<ssize_t>(bytes.size());
}

bool WriteNumber(int file, uint64_t number, off_t at) {
  return Write(file, {reinterpret_cast<const char*>(&number), sizeof(number)}, at);
}

std::optional<uint64_t> ReadNumber(int file, off_t at) {
  uint64_t number = 0;
  if (::pread(file, &number, sizeof(number), at) != sizeof(number)) return std::nullopt;
  return number;
}

void AddTo(v1::Opened& piece, const record::Observation& what, const std::string& value) {
  wire::ToProto(record::Observed{.what = what, .value = value}, piece.add_observed());
}

}  // namespace

void OpenedNotes::BeginJob(uint64_t attempt) {
  attempt_ = attempt;
  unknown_ = 1;  // until its source is read
  is_full_ = false;
  size_ = 0;
  WriteSize();
  WriteNumber(file_, attempt, kAttemptAt);
}

void OpenedNotes::Begin(uint32_t platform, const Digest& source,
                        const std::map<record::Observation, std::string>& observed) {
  unknown_ = 1;
  is_full_ = false;
  size_ = 0;
  WriteSize();
  v1::Opened known;
  known.set_platform(platform);
  wire::ToProto(source, known.mutable_source());
  for (const auto& [what, value] : observed) AddTo(known, what, value);
  Append(known);
  EndUnknown();
}

void OpenedNotes::BeginUnknown() {
  if (++unknown_ == 1) WriteSize();
}

void OpenedNotes::EndUnknown() {
  if (--unknown_ == 0) WriteSize();
}

void OpenedNotes::Add(const record::Observation& what, const std::string& value) {
  v1::Opened piece;
  AddTo(piece, what, value);
  Append(piece);
}

bool OpenedNotes::IsTimeUp() const {
  return attempt_ != 0 && ReadNumber(file_, kTimeUpAt) == attempt_;
}

void OpenedNotes::Append(const v1::Opened& piece) {
  const std::string bytes = piece.SerializeAsString();
  if (is_full_ || size_ + bytes.size() > kNotesBytesMax ||
      !Write(file_, bytes, kNotesAt + static_cast<off_t>(size_))) {
    is_full_ = true;
  } else {
    size_ += bytes.size();
  }
  WriteSize();
}

void OpenedNotes::WriteSize() {
  WriteNumber(file_, unknown_ > 0 || is_full_ ? kNotKnown : size_, kSizeAt);
}

absl::StatusOr<FileDescriptor> MakeOpenedNotes() {
  FileDescriptor file(::memfd_create("galley-opened", MFD_CLOEXEC));
  if (!file.valid()) return ErrnoStatus(errno, "memory file for", "an executor's notes");
  return file;
}

std::optional<v1::Opened> ReadOpenedNotes(int file, uint64_t attempt) {
  const std::optional<uint64_t> size = ReadNumber(file, kSizeAt);
  if (attempt == 0 || ReadNumber(file, kAttemptAt) != attempt || !size || *size > kNotesBytesMax)
    return std::nullopt;
  std::string bytes(static_cast<size_t>(*size), '\0');
  if (::pread(file, bytes.data(), bytes.size(), kNotesAt) != static_cast<ssize_t>(bytes.size()))
    return std::nullopt;
  v1::Opened opened;
  if (!opened.ParseFromString(bytes) || !wire::FromProto(opened.source()).ok() ||
      !wire::ObservedFromProto(opened.observed()).ok())
    return std::nullopt;
  return opened;
}

void TellTimeIsUp(int file, uint64_t attempt) { WriteNumber(file, attempt, kTimeUpAt); }

}  // namespace galley::worker

#include "worker/executor/opened_notes.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "common/wire/convert.h"

namespace galley::worker {
namespace {

constexpr uint64_t kNotKnown = ~uint64_t{0};
constexpr size_t kAttemptAt = 0, kSizeAt = 8, kTimeUpAt = 16, kLoadedAt = 24, kNotesAt = 64;
constexpr size_t kFileBytes = kNotesAt + kNotesBytesMax;

std::atomic_ref<uint64_t> NumberAt(uint8_t* map, size_t at) {
  return std::atomic_ref<uint64_t>(*reinterpret_cast<uint64_t*>(map + at));
}

std::optional<uint64_t> ReadNumber(int file, size_t at) {
  uint64_t number = 0;
  if (::pread(file, &number, sizeof(number), static_cast<off_t>(at)) != sizeof(number))
    return std::nullopt;
  return number;
}

std::optional<uint64_t> ReadSize(int file, uint64_t attempt) {
  const std::optional<uint64_t> size = ReadNumber(file, kSizeAt);
  const bool is_known = attempt != 0 && ReadNumber(file, kAttemptAt) == attempt &&
                        size.has_value() && *size <= kNotesBytesMax;
  return is_known ? size : std::nullopt;
}

}  // namespace

OpenedNotes::OpenedNotes(int file) {
  struct stat status {};
  if (::fstat(file, &status) != 0 || status.st_size != static_cast<off_t>(kFileBytes)) return;
  void* const map = ::mmap(nullptr, kFileBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (map != MAP_FAILED) map_ = static_cast<uint8_t*>(map);
}

OpenedNotes::~OpenedNotes() {
  if (map_ != nullptr) ::munmap(map_, kFileBytes);
}

void OpenedNotes::BeginJob(uint64_t attempt) {
  attempt_ = attempt;
  unknown_ = 1;  // until the job's source is read
  Clear();
  if (map_ != nullptr) NumberAt(map_, kAttemptAt).store(attempt, std::memory_order_release);
}

void OpenedNotes::Begin(uint32_t platform, const Digest& source,
                        const std::map<record::Observation, std::string>& observed) {
  unknown_ = 1;
  Clear();
  piece_.Clear();
  piece_.set_platform(platform);
  wire::ToProto(source, piece_.mutable_source());
  AppendPiece();
  for (const auto& [what, value] : observed) Append(what, value);
  EndUnknown();
}

void OpenedNotes::BeginUnknown() {
  if (++unknown_ == 1) WriteSize();
}

void OpenedNotes::EndUnknown() {
  if (--unknown_ == 0) WriteSize();
}

void OpenedNotes::Add(const record::Observation& what, const std::string& value) {
  Append(what, value);
  WriteSize();
}

void OpenedNotes::NoteLoaded() {
  if (map_ != nullptr) NumberAt(map_, kLoadedAt).store(attempt_, std::memory_order_release);
}

bool OpenedNotes::IsTimeUp() const {
  return map_ != nullptr && attempt_ != 0 &&
         NumberAt(map_, kTimeUpAt).load(std::memory_order_acquire) == attempt_;
}

void OpenedNotes::Append(const record::Observation& what, const std::string& value) {
  if (value.size() > kNotesBytesMax) is_full_ = true;
  if (map_ == nullptr || is_full_) return;
  piece_.Clear();
  wire::ToProto(record::Observed{.what = what, .value = value}, piece_.add_observed());
  AppendPiece();
}

// Writes behind the noted size, where nobody reads yet.
void OpenedNotes::AppendPiece() {
  const size_t bytes = piece_.ByteSizeLong();
  is_full_ = is_full_ || bytes > kNotesBytesMax - size_;
  if (map_ == nullptr || is_full_) return;
  piece_.SerializeWithCachedSizesToArray(map_ + kNotesAt + size_);
  size_ += bytes;
}

// REQUIRES: unknown_ > 0. Nobody reads the bytes that are written next: a reader compares the size
// before and after it reads.
void OpenedNotes::Clear() {
  is_full_ = false;
  size_ = 0;
  WriteSize();
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

void OpenedNotes::WriteSize() {
  if (map_ == nullptr) return;
  NumberAt(map_, kSizeAt)
      .store(unknown_ > 0 || is_full_ ? kNotKnown : size_, std::memory_order_release);
}

absl::StatusOr<FileDescriptor> MakeOpenedNotes() {
  FileDescriptor file(::memfd_create("galley-opened", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file.valid() || ::ftruncate(file.get(), kFileBytes) != 0 ||
      ::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    return ErrnoStatus(errno, "memory file for", "an executor's notes");
  return file;
}

// The executor may be alive and begin its next job: then size or attempt changes while the notes
// are read, and the result is nullopt.
std::optional<v1::Opened> ReadOpenedNotes(int file, uint64_t attempt) {
  const std::optional<uint64_t> size = ReadSize(file, attempt);
  if (!size.has_value()) return std::nullopt;
  std::string bytes(static_cast<size_t>(*size), '\0');
  if (::pread(file, bytes.data(), bytes.size(), kNotesAt) != static_cast<ssize_t>(bytes.size()) ||
      ReadSize(file, attempt) != size)
    return std::nullopt;
  v1::Opened opened;
  if (!opened.ParseFromString(bytes) || !wire::FromProto(opened.source()).ok() ||
      !wire::ObservedFromProto(opened.observed()).ok())
    return std::nullopt;
  return opened;
}

bool WasLoaded(int file, uint64_t attempt) {
  return attempt != 0 && ReadNumber(file, kLoadedAt) == attempt;
}

void TellTimeIsUp(int file, uint64_t attempt) {
  // The memory is there already. If it is not, the write fails, and the job is ended without this
  // notice.
  [[maybe_unused]] const ssize_t written =
      ::pwrite(file, &attempt, sizeof(attempt), static_cast<off_t>(kTimeUpAt));
}

}  // namespace galley::worker

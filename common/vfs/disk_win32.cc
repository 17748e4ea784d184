#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "common/vfs/disk.h"
#include "common/vfs/win32.h"

namespace galley::vfs {
namespace {

// Others may read, write, replace and remove what is open, as on other systems.
constexpr DWORD kShareAll = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
// A link or a folder is opened itself.
constexpr DWORD kItself = FILE_FLAG_OPEN_REPARSE_POINT | FILE_FLAG_BACKUP_SEMANTICS;
constexpr size_t kTransferMax = 64 << 20;  // of one call, which counts in 32 bits
constexpr DWORD kLockAtHigh = 1u << 30;    // byte 2^62, so that a lock holds up no reader
// Some headers lack ERROR_DISK_QUOTA_EXCEEDED, FileDispositionInfoEx and FileRenameInfoEx.
constexpr DWORD kQuotaExceeded = 1295;
constexpr auto kDispositionEx = static_cast<FILE_INFO_BY_HANDLE_CLASS>(21);
constexpr auto kRenameEx = static_cast<FILE_INFO_BY_HANDLE_CLASS>(22);
constexpr int kBusyTries = 6;
constexpr int kReplaceTries = 64;
// The system counts ticks of 100 ns since 1601.
constexpr int64_t kTicksPerS = 10'000'000;
constexpr int64_t kSecondsTo1970 = 11'644'473'600;

Fault FaultOf(DWORD error, const std::string& path) {
  int code = GALLEY_VFS_IO;
  if (error == ERROR_FILE_NOT_FOUND || error == ERROR_PATH_NOT_FOUND) code = GALLEY_VFS_ABSENT;
  if (error == ERROR_DISK_FULL || error == ERROR_HANDLE_DISK_FULL || error == kQuotaExceeded)
    code = GALLEY_VFS_NO_SPACE;
  return {code, path + ": " + TextOfError(error)};
}

// The path from the root of its drive, in the form that may have more than 260 characters. Empty:
// the path is not UTF-8.
std::wstring FullPath(const std::string& path) {
  std::wstring wide = ToWide(path);
  std::ranges::replace(wide, L'/', L'\\');
  std::wstring full(::GetFullPathNameW(wide.c_str(), 0, nullptr, nullptr), L'\0');
  const DWORD size =
      ::GetFullPathNameW(wide.c_str(), static_cast<DWORD>(full.size()), full.data(), nullptr);
  if (wide.empty() || size >= full.size()) return {};
  full.resize(size);
  if (full.starts_with(L"\\\\?\\") || full.starts_with(L"\\\\.\\")) return full;
  if (full.starts_with(L"\\\\")) return L"\\\\?\\UNC" + full.substr(1);
  return L"\\\\?\\" + full;
}

uint64_t Joined(DWORD high, DWORD low) { return uint64_t{high} << 32 | low; }

int64_t SecondsOf(const FILETIME& time) {
  const auto ticks = static_cast<int64_t>(Joined(time.dwHighDateTime, time.dwLowDateTime));
  return ticks / kTicksPerS - kSecondsTo1970;
}

OVERLAPPED At(uint64_t offset) {
  OVERLAPPED at{};
  at.Offset = static_cast<DWORD>(offset);
  at.OffsetHigh = static_cast<DWORD>(offset >> 32);
  return at;
}

bool IsLink(DWORD attributes) { return (attributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0; }

// False: also where nothing is (INVALID_FILE_ATTRIBUTES).
bool IsFolder(DWORD attributes) {
  return (attributes & FILE_ATTRIBUTE_DIRECTORY) != 0 && !IsLink(attributes);
}

// OpenHandle: closes what it has.
class OpenHandle {
 public:
  OpenHandle(const std::wstring& path, DWORD access, DWORD disposition, DWORD flags)
      : handle_(
            ::CreateFileW(path.c_str(), access, kShareAll, nullptr, disposition, flags, nullptr)) {}
  OpenHandle(OpenHandle&& other) noexcept
      : handle_(std::exchange(other.handle_, INVALID_HANDLE_VALUE)) {}
  OpenHandle& operator=(OpenHandle&&) = delete;
  ~OpenHandle() {
    if (ok()) ::CloseHandle(handle_);
  }
  bool ok() const { return handle_ != INVALID_HANDLE_VALUE; }
  HANDLE get() const { return handle_; }

 private:
  HANDLE handle_;
};

class Win32File final : public OpenFile {
 public:
  Win32File(OpenHandle handle, std::string path)
      : handle_(std::move(handle)), path_(std::move(path)) {}

  Result<size_t> ReadAt(uint64_t offset, void* buffer, size_t size) const override {
    size_t done = 0;
    while (done < size) {
      OVERLAPPED at = At(offset + done);
      DWORD got = 0;
      const auto wanted = static_cast<DWORD>(std::min(size - done, kTransferMax));
      const bool is_read =
          ::ReadFile(handle_.get(), static_cast<char*>(buffer) + done, wanted, &got, &at) != 0;
      const DWORD error = is_read ? ERROR_SUCCESS : ::GetLastError();
      if (!is_read && error != ERROR_HANDLE_EOF) return FaultOf(error, path_);
      if (got == 0) break;
      done += got;
    }
    return done;
  }
  Outcome Append(std::string_view bytes) override {
    while (!bytes.empty()) {
      DWORD wrote = 0;
      const auto wanted = static_cast<DWORD>(std::min(bytes.size(), kTransferMax));
      if (::WriteFile(handle_.get(), bytes.data(), wanted, &wrote, nullptr) == 0)
        return FaultOf(::GetLastError(), path_);
      bytes.remove_prefix(wrote);
    }
    return std::nullopt;
  }
  Result<uint64_t> Size() const override {
    LARGE_INTEGER size{};
    if (::GetFileSizeEx(handle_.get(), &size) == 0) return FaultOf(::GetLastError(), path_);
    return static_cast<uint64_t>(size.QuadPart);
  }
  Result<uint64_t> Id() const override {
    BY_HANDLE_FILE_INFORMATION facts{};
    if (::GetFileInformationByHandle(handle_.get(), &facts) == 0)
      return FaultOf(::GetLastError(), path_);
    return Joined(facts.nFileIndexHigh, facts.nFileIndexLow);
  }
  bool Lock() override {
    if (is_locked_) return true;
    OVERLAPPED at{};
    at.OffsetHigh = kLockAtHigh;
    is_locked_ = ::LockFileEx(handle_.get(), LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY, 0,
                              1, 0, &at) != 0;
    return is_locked_;
  }

 private:
  const OpenHandle handle_;
  const std::string path_;
  bool is_locked_ = false;
};

// Older systems, and some file systems, do not know a way to do something.
bool IsUnknownWay(DWORD error) {
  return error == ERROR_INVALID_PARAMETER || error == ERROR_INVALID_FUNCTION ||
         error == ERROR_NOT_SUPPORTED || error == ERROR_CALL_NOT_IMPLEMENTED;
}

// Returns 0, or the system's error. `way` is kRenameEx or FileRenameInfo.
DWORD RenameOpen(const OpenHandle& file, const std::wstring& to, FILE_INFO_BY_HANDLE_CLASS way,
                 DWORD flags) {
  const size_t bytes = to.size() * sizeof(wchar_t);
  std::vector<FILE_RENAME_INFO> buffer(2 + bytes / sizeof(FILE_RENAME_INFO));
  FILE_RENAME_INFO& info = buffer.front();
  info.Flags = flags;
  info.FileNameLength = static_cast<DWORD>(bytes);
  std::memcpy(static_cast<void*>(info.FileName), to.data(), bytes);
  const auto size = static_cast<DWORD>(buffer.size() * sizeof(FILE_RENAME_INFO));
  const bool is_done = ::SetFileInformationByHandle(file.get(), way, &info, size) != 0;
  return is_done ? ERROR_SUCCESS : ::GetLastError();
}

bool IsOpenFolder(const OpenHandle& file) {
  BY_HANDLE_FILE_INFORMATION facts{};
  return ::GetFileInformationByHandle(file.get(), &facts) != 0 && IsFolder(facts.dwFileAttributes);
}

// Returns 0, or the system's error.
DWORD MarkRemoved(const OpenHandle& file) {
  FILE_DISPOSITION_INFO gone{};
  gone.DeleteFile = TRUE;
  const bool is_done =
      ::SetFileInformationByHandle(file.get(), FileDispositionInfo, &gone, sizeof gone) != 0;
  return is_done ? ERROR_SUCCESS : ::GetLastError();
}

// The name of a file that is removed is free only when nobody has it open any more, so the file is
// given another one first: one that nobody else knows, since others may put another file there.
DWORD RemoveAside(const std::wstring& path) {
  static std::atomic<unsigned> last = 0;
  const std::wstring aside = path + L".gone" + std::to_wstring(::GetCurrentProcessId()) + L"-" +
                             std::to_wstring(last.fetch_add(1));
  if (::MoveFileExW(path.c_str(), aside.c_str(), 0) == 0) return ::GetLastError();
  const OpenHandle moved(aside, DELETE, OPEN_EXISTING, kItself);
  const DWORD error = moved.ok() ? MarkRemoved(moved) : ::GetLastError();
  if (error != ERROR_SUCCESS) ::MoveFileExW(aside.c_str(), path.c_str(), 0);
  return error;
}

DWORD RemoveOpen(const OpenHandle& file, const std::wstring& path) {
  FILE_DISPOSITION_INFO_EX gone{};
  gone.Flags = FILE_DISPOSITION_FLAG_DELETE | FILE_DISPOSITION_FLAG_POSIX_SEMANTICS;
  if (::SetFileInformationByHandle(file.get(), kDispositionEx, &gone, sizeof gone) != 0)
    return ERROR_SUCCESS;
  const DWORD error = ::GetLastError();
  if (!IsUnknownWay(error)) return error;
  return IsOpenFolder(file) ? MarkRemoved(file) : RemoveAside(path);
}

// 0: it is not there any more. A folder has to be empty.
DWORD RemoveAt(const std::wstring& path) {
  const OpenHandle file(path, DELETE | FILE_READ_ATTRIBUTES, OPEN_EXISTING, kItself);
  const DWORD error = file.ok() ? RemoveOpen(file, path) : ::GetLastError();
  const bool is_gone = error == ERROR_FILE_NOT_FOUND || error == ERROR_PATH_NOT_FOUND;
  return is_gone ? ERROR_SUCCESS : error;
}

// Returns 0, or the system's error.
DWORD RenameOnce(const OpenHandle& file, const std::wstring& to) {
  DWORD error = RenameOpen(file, to, kRenameEx,
                           FILE_RENAME_FLAG_REPLACE_IF_EXISTS | FILE_RENAME_FLAG_POSIX_SEMANTICS);
  if (!IsUnknownWay(error)) return error;
  for (int i = 0; i < kReplaceTries; ++i) {
    error = RenameOpen(file, to, FileRenameInfo, TRUE);
    if (error != ERROR_ACCESS_DENIED || IsFolder(::GetFileAttributesW(to.c_str()))) return error;
    // Somebody has `to` open; somebody else may put another file there, and open it.
    if (const DWORD not_removed = RemoveAt(to); not_removed != ERROR_SUCCESS) return not_removed;
  }
  return error;
}

// Programs that guard against viruses, or index files, open what is new for a moment, and share it
// with nobody.
template <typename Act>
DWORD WhileNotBusy(const Act& act) {
  for (int i = 0;; ++i) {
    const DWORD error = act();
    if (error != ERROR_SHARING_VIOLATION || i == kBusyTries) return error;
    ::Sleep(1u << i);
  }
}

class Win32Disk final : public Disk {
 public:
  Result<std::unique_ptr<OpenFile>> OpenToRead(const std::string& path) override {
    return Open(path, GENERIC_READ, OPEN_EXISTING);
  }
  Result<std::unique_ptr<OpenFile>> OpenToAppend(const std::string& path) override {
    return Open(path, GENERIC_READ | FILE_APPEND_DATA, OPEN_ALWAYS);
  }
  Outcome Rename(const std::string& from, const std::string& to) override {
    const DWORD error = WhileNotBusy([from = FullPath(from), to = FullPath(to)] {
      const OpenHandle file(from, DELETE | FILE_READ_ATTRIBUTES, OPEN_EXISTING, kItself);
      return file.ok() ? RenameOnce(file, to) : ::GetLastError();
    });
    if (error == ERROR_SUCCESS) return std::nullopt;
    return FaultOf(error, to);
  }
  Outcome Remove(const std::string& path) override {
    const DWORD error = WhileNotBusy([full = FullPath(path)] { return RemoveAt(full); });
    if (error == ERROR_SUCCESS) return std::nullopt;
    return FaultOf(error, path);
  }
  Outcome MakeFolder(const std::string& path) override {
    const std::wstring full = FullPath(path);
    if (full.empty())
      return Fault{GALLEY_VFS_IO, "\"" + path + "\": expected the path of a folder, in UTF-8"};
    // Up to a folder that can be made, or is there, and down again.
    size_t end = full.size();
    while (::CreateDirectoryW(full.substr(0, end).c_str(), nullptr) == 0 &&
           ::GetLastError() == ERROR_PATH_NOT_FOUND) {
      const size_t slash = full.rfind(L'\\', end - 1);
      if (slash == std::wstring::npos || slash == 0) break;
      end = slash;
    }
    for (;; end = std::min(full.find(L'\\', end + 1), full.size())) {
      if (Outcome failed = MakeOneFolder(full.substr(0, end), path)) return failed;
      if (end == full.size()) return std::nullopt;
    }
  }
  Result<std::vector<FileFacts>> List(const std::string& folder) override {
    std::vector<FileFacts> files;
    WIN32_FIND_DATAW found{};
    const HANDLE search =
        ::FindFirstFileExW((FullPath(folder) + L"\\*").c_str(), FindExInfoBasic, &found,
                           FindExSearchNameMatch, nullptr, FIND_FIRST_EX_LARGE_FETCH);
    const DWORD error = search == INVALID_HANDLE_VALUE ? ::GetLastError() : ERROR_SUCCESS;
    if (error == ERROR_FILE_NOT_FOUND || error == ERROR_PATH_NOT_FOUND) return files;
    if (error != ERROR_SUCCESS) return FaultOf(error, folder);
    do {
      FileFacts facts{.name = ToUtf8(found.cFileName),
                      .size = Joined(found.nFileSizeHigh, found.nFileSizeLow),
                      .used_s = SecondsOf(found.ftLastWriteTime),
                      .is_folder = IsFolder(found.dwFileAttributes),
                      .is_other = IsLink(found.dwFileAttributes)};
      if (facts.name != "." && facts.name != ".." && !facts.name.empty())
        files.push_back(std::move(facts));
    } while (::FindNextFileW(search, &found) != 0);
    ::FindClose(search);
    return files;
  }
  Result<FileFacts> Look(const std::string& path) override {
    const OpenHandle file(FullPath(path), FILE_READ_ATTRIBUTES, OPEN_EXISTING, kItself);
    if (!file.ok()) return FaultOf(::GetLastError(), path);
    BY_HANDLE_FILE_INFORMATION facts{};
    if (::GetFileInformationByHandle(file.get(), &facts) == 0)
      return FaultOf(::GetLastError(), path);
    return FileFacts{.name = path.substr(path.rfind('/') + 1),
                     .id = Joined(facts.nFileIndexHigh, facts.nFileIndexLow),
                     .size = Joined(facts.nFileSizeHigh, facts.nFileSizeLow),
                     .used_s = SecondsOf(facts.ftLastWriteTime),
                     .is_folder = IsFolder(facts.dwFileAttributes),
                     .is_other = IsLink(facts.dwFileAttributes)};
  }
  void Touch(const std::string& path, int64_t used_s) override {
    const OpenHandle file(FullPath(path), FILE_WRITE_ATTRIBUTES, OPEN_EXISTING, kItself);
    const auto ticks = static_cast<uint64_t>((used_s + kSecondsTo1970) * kTicksPerS);
    const FILETIME time = {.dwLowDateTime = static_cast<DWORD>(ticks),
                           .dwHighDateTime = static_cast<DWORD>(ticks >> 32)};
    if (file.ok()) ::SetFileTime(file.get(), nullptr, nullptr, &time);
  }

 private:
  // True: a folder, or a link to one.
  static bool IsFolderAt(const std::wstring& path) {
    const DWORD attributes = ::GetFileAttributesW(path.c_str());
    return attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
  }
  static Outcome MakeOneFolder(const std::wstring& folder, const std::string& path) {
    if (::CreateDirectoryW(folder.c_str(), nullptr) != 0) return std::nullopt;
    const DWORD error = ::GetLastError();
    if (IsFolderAt(folder)) return std::nullopt;  // another process has made it
    if (error == ERROR_ALREADY_EXISTS) {
      return Fault{GALLEY_VFS_IO,
                   ToUtf8(folder) + ": something else than a folder is there; remove it"};
    }
    Fault fault = FaultOf(error, path);
    if (fault.code != GALLEY_VFS_NO_SPACE) fault.code = GALLEY_VFS_IO;
    return fault;
  }
  static Result<std::unique_ptr<OpenFile>> Open(const std::string& path, DWORD access,
                                                DWORD disposition) {
    OpenHandle handle(FullPath(path), access, disposition, kItself);
    if (!handle.ok()) return FaultOf(::GetLastError(), path);
    const bool is_on_disk = ::GetFileType(handle.get()) == FILE_TYPE_DISK;
    BY_HANDLE_FILE_INFORMATION facts{};
    if (is_on_disk && ::GetFileInformationByHandle(handle.get(), &facts) == 0)
      return FaultOf(::GetLastError(), path);
    constexpr DWORD kOther = FILE_ATTRIBUTE_DIRECTORY | FILE_ATTRIBUTE_REPARSE_POINT;
    if (!is_on_disk || (facts.dwFileAttributes & kOther) != 0)
      return Fault{kNotAFile, path + ": something else than a file is there; remove it"};
    return std::unique_ptr<OpenFile>(std::make_unique<Win32File>(std::move(handle), path));
  }
};

}  // namespace

Disk& SystemDisk() {
  static Win32Disk disk;
  return disk;
}

}  // namespace galley::vfs

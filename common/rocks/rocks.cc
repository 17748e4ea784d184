#include "common/rocks/rocks.h"

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <memory>
#include <system_error>
#include <vector>

#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/own_file.h"
#include "fmt/format.h"
#include "rocksdb/env.h"
#include "rocksdb/options.h"

namespace galley::rocks {
namespace {

namespace fs = std::filesystem;

constexpr int kErrnosOfMachine[] = {EMFILE, ENFILE, ENOMEM, ENOSPC, EDQUOT,
                                    EFBIG,  EROFS,  EAGAIN, EINTR};
// Source: rocksdb/env/env_posix.cc, LockFile.
constexpr std::string_view kLockErrors[] = {"While lock file", "lock hold by current process"};

// RocksDB would begin a file LOG.
class NoLog final : public rocksdb::Logger {
 public:
  using rocksdb::Logger::Logv;
  void Logv(const char*, va_list) override {}
};

// RocksDB's own log, which would be files in its folder. What it tells is an error of a call, too.
class InfoLog final : public rocksdb::Logger {
 public:
  InfoLog() : Logger(rocksdb::ERROR_LEVEL) {}
  using Logger::Logv;
  void Logv(const char* format, va_list arguments) override {
    char line[512];
    std::vsnprintf(line, sizeof(line), format, arguments);
    LogDebug("database: {}", line);
  }
};

}  // namespace

rocksdb::Options SharedOptions() {
  rocksdb::Options options;
  options.max_background_jobs = 2;
  options.max_open_files = 256;
  options.info_log = std::make_shared<InfoLog>();
  return options;
}

bool IsOfMachine(const rocksdb::Status& status) {
  if (status.IsNoSpace() || status.IsMemoryLimit() || status.IsBusy() || status.IsTryAgain())
    return true;
  const std::string text = status.ToString();
  const auto says = [&](std::string_view reason) { return text.find(reason) != std::string::npos; };
  // RocksDB keeps the text of an errno, not its number, and some of it in a corruption.
  return std::any_of(std::begin(kLockErrors), std::end(kLockErrors), says) ||
         std::any_of(std::begin(kErrnosOfMachine), std::end(kErrnosOfMachine),
                     [&](int error) { return says(std::generic_category().message(error)); });
}

absl::Status ToStatus(const rocksdb::Status& status, std::string_view what) {
  if (status.ok()) return absl::OkStatus();
  const std::string text = fmt::format("{}: {}", what, status.ToString());
  if (status.IsNoSpace()) return absl::ResourceExhaustedError(text);
  if (status.IsNotFound() || status.IsPathNotFound()) return absl::NotFoundError(text);
  if (status.IsCorruption()) return absl::DataLossError(text);
  if (status.IsBusy() || status.IsTryAgain() || text.find("lock") != std::string::npos)
    return absl::UnavailableError(text);
  return absl::InternalError(text);
}

absl::Status ToReadStatus(const rocksdb::Status& status, std::string_view what) {
  if (status.ok()) return absl::OkStatus();
  if (IsOfMachine(status)) {
    const absl::Status told = ToStatus(status, what);
    return absl::IsInternal(told) ? absl::ResourceExhaustedError(MessageOf(told)) : told;
  }
  return DataLossError("{}: {}", what, status.ToString());
}

absl::StatusOr<std::optional<std::string>> Get(rocksdb::DB& database, std::string_view key,
                                               const Convert& convert) {
  std::string value;
  const rocksdb::Status status = database.Get(rocksdb::ReadOptions(), ToSlice(key), &value);
  if (status.IsNotFound()) return std::optional<std::string>();
  RETURN_IF_ERROR(convert(status));
  return std::optional<std::string>(std::move(value));
}

absl::StatusOr<std::string> MoveAside(const std::string& path,
                                      absl::FunctionRef<bool(const std::string&)> may_remove) {
  ASSIGN_OR_RETURN(std::string aside, PutAside(path));
  std::vector<std::string> removable = ListPutAside(path);
  std::erase_if(removable, [&](const std::string& other) { return !may_remove(other); });
  for (size_t i = 0; i + kBrokenFilesMax < removable.size(); ++i) RemoveAside(removable[i]);
  return aside;
}

void RemoveAside(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(fs::symlink_status(path, error)))
    fs::permissions(path, fs::perms::owner_all, fs::perm_options::add, error);
  if (const absl::Status removed = RemoveAll(path); !removed.ok())
    LogWarning("{}: it was damaged and moved aside, and stays: {}", path, MessageOf(removed));
}

rocksdb::Status OpenForLook(const std::string& path, std::unique_ptr<rocksdb::DB>& database) {
  rocksdb::Options options;
  options.create_if_missing = false;
  options.info_log = std::make_shared<NoLog>();
  rocksdb::DB* opened = nullptr;
  const rocksdb::Status status = rocksdb::DB::OpenForReadOnly(options, path, &opened);
  database.reset(opened);
  return status.ok() ? database->VerifyChecksum() : status;
}

rocksdb::ReadOptions PastTheCache() {
  rocksdb::ReadOptions options;
  options.fill_cache = false;
  return options;
}

}  // namespace galley::rocks

#include "director/journal/look.h"

#include <memory>

#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "director/journal/database.h"
#include "director/journal/seal.h"
#include "fmt/format.h"
#include "rocksdb/env.h"

namespace galley::director {
namespace {

// RocksDB would begin a file LOG.
class NoLog final : public rocksdb::Logger {
 public:
  using rocksdb::Logger::Logv;
  void Logv(const char*, va_list) override {}
};

}  // namespace

absl::Status LookAtJournal(const std::string& state_directory) {
  const std::string directory = JournalDirectory(state_directory);
  if (!FileExists(directory))
    return absl::NotFoundError(fmt::format("there is no journal in {}", directory));
  if (FileExists(DamagedMark(state_directory)))
    return absl::DataLossError("damaged records were found in it");
  RETURN_IF_ERROR(CheckSeal(directory));
  rocksdb::Options options;
  options.create_if_missing = false;
  options.info_log = std::make_shared<NoLog>();
  rocksdb::DB* opened = nullptr;
  rocksdb::Status status = rocksdb::DB::OpenForReadOnly(options, directory, &opened);
  const std::unique_ptr<rocksdb::DB> database(opened);
  if (status.ok()) status = database->VerifyChecksum();
  return ToReadStatus(status, "reading the journal");
}

}  // namespace galley::director

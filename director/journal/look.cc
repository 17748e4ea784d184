#include "director/journal/look.h"

#include <memory>

#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/rocks/rocks.h"
#include "director/journal/database.h"
#include "director/journal/seal.h"

namespace galley::director {
absl::Status LookAtJournal(const std::string& state_directory) {
  const std::string directory = JournalDirectory(state_directory);
  if (!FileExists(directory)) return NotFoundError("there is no journal in {}", directory);
  if (FileExists(DamagedMark(state_directory)))
    return absl::DataLossError("damaged records were found in it");
  RETURN_IF_ERROR(CheckSeal(directory));
  std::unique_ptr<rocksdb::DB> database;
  const rocksdb::Status status = rocks::OpenForLook(directory, database);
  return rocks::ToReadStatus(status, "reading the journal");
}

}  // namespace galley::director

// RocksJournal: opens a journal with options that only tests change.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "director/journal/database.h"
#include "director/journal/journal.h"

namespace galley::director {

absl::StatusOr<std::unique_ptr<Journal>> OpenJournal(const std::string& state_directory,
                                                     const JournalOptions& options);

}  // namespace galley::director

// CheckStamps: compares the folders and files on the disk with a table of stamps, with several
// threads.
#pragma once

#include "common/content/stamp_records.h"
#include "common/content/stamp_table.h"

namespace galley::content {

StampCheck CheckStamps(const StampRecords& table, const StampTable::CheckOptions& options);

}  // namespace galley::content

// CheckStamps: looks at the folders and files of a table of stamps as they are on the disk today,
// with several threads.
#pragma once

#include "common/content/stamp_records.h"
#include "common/content/stamp_table.h"

namespace galley::content {

StampCheck CheckStamps(const StampRecords& table, const StampTable::CheckOptions& options);

}  // namespace galley::content
